/// What searches with less knowledge have found out about pointers: some hold what they did not seem to, others hold nothing.
struct EdgeFindings: Sendable {
  /// The arrays of Swift that may have more elements than they count.
  var growingArrays = GrowingArrays()
  /// Where storage of containers of C++ has no elements.
  var freeElements = FreeElements()
  /// The parts of arrays that grow without moving, which words lead in front of.
  var arrayParts = ArrayParts()
  /// What counts for objects of `std::shared_ptr` that are gone.
  var expired = ExpiredCounts()
  /// The blocks that owners hold by a pointer into the middle.
  var rustInteriors = RustInteriors()
  /// The blocks of allocators that keep the beginning for themselves.
  var headerBlocks = HeaderBlocks()
  /// The blocks that are handed out in cells.
  var cellBlocks = CellBlocks()
  /// The blocks with what the Swift runtime knows of types.
  var metadata = TypeMetadata()
  /// The words of variables that only identify objects.
  var identifiers = IdentifyingVariables()
  /// The objects of Swift of which all is known that holds them.
  var settled = SettledObjects()
  /// The leaked blocks that hold themselves by a reference which they count; see ``SelfOwners``.
  var selfOwners: Set<Int> = []
  /// Where in leaked blocks nothing is that holds another one.
  var unusedWords = UnusedWords()
}

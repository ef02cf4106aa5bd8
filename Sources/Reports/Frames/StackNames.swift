import Symbolication
import TraceReader

/// The names of backtraces, looked up when they are first asked for and kept.
///
/// Looking up a name costs far more than counting an event, so reports group by stack ID first and
/// ask only for the stacks that they show or group by name. Belongs to one thread at a time.
public final class StackNames {
  private let symbolicator: StackSymbolicator
  private let stacks: StackTable
  private let images: ImageMap
  private let fullNames: Bool
  /// By what a node says of its frame: the location that was found last, and in which era of images.
  private var lastLocations: [(era: Int, location: Int)]
  private var framesOfLocation = LocationTable<[ReportFrame]>()
  private var textOfLocation = LocationTable<Int>()
  private var texts = Numbering<[ReportFrame]>()
  /// By the hash of what is printed, or a number behind it.
  private var firstOfText: [UInt64: StackID] = [:]
  /// Nobody can make a trace of which all stacks have the same hash.
  private let hashFactor = UInt64.random(in: .min ... .max) | 1
  private var likenesses: StackMap<StackID>

  /// Makes names for the stacks of one trace.
  ///
  /// - Parameters:
  ///   - stacks: The backtraces.
  ///   - images: The images that their frames lie in.
  ///   - types: The types that blocks of some stacks were seen to have.
  ///   - symbolicator: Looks up the names.
  ///   - fullNames: Whether names are printed with all their template arguments.
  public init(
    stacks: StackTable, images: ImageMap, types: TypeTable = TypeTable(),
    symbolicator: any Symbolicator, fullNames: Bool = false
  ) {
    self.symbolicator = StackSymbolicator(
      stacks: stacks, images: images, types: types, symbolicator: symbolicator)
    self.stacks = stacks
    self.images = images
    likenesses = StackMap(stacks)
    lastLocations = Array(repeating: (-1, 0), count: stacks.endFrameNumber)
    self.fullNames = fullNames
  }

  /// The frames of a backtrace, leaf first, inlined ones included; markers stand where some
  /// were left out.
  public func frames(of stack: StackID) -> [ReportFrame] {
    var frames = stacks.frames(of: stack).flatMap(self.frames(of:))
    if stacks.lacksRoot(stack) {
      frames.append(ReportFrame(name: "<callers not known>", role: .marker))
    }
    return frames
  }

  /// The frames of a backtrace one after the other, for those who need the first few only.
  func innermostFrames(of stack: StackID) -> some Sequence<ReportFrame> {
    stacks.walk(stack).lazy.flatMap(self.frames(of:))
  }

  /// A map of the stacks, with nothing in it.
  func map<Value>(of _: Value.Type) -> StackMap<Value> { StackMap(stacks) }

  /// The stack that stands for all that read the same: the first that was asked for.
  ///
  /// Where the compiler unrolls a loop or inlines a function twice, one line of the source allocates at
  /// several addresses. Nobody can tell such stacks apart in a report.
  func likeness(of stack: StackID) -> StackID {
    if let known = likenesses[stack] { return known }
    var hash = hashOfText(of: stack)
    while let first = firstOfText[hash] {
      if readsAlike(first, stack) {
        likenesses.set(first, of: stack)
        return first
      }
      hash &+= 1
    }
    firstOfText[hash] = stack
    likenesses.set(stack, of: stack)
    return stack
  }

  private func hashOfText(of stack: StackID) -> UInt64 {
    var hash: UInt64 = 0
    var walk = stacks.walk(stack)
    while let frame = walk.next() {
      hash = (hash ^ UInt64(text(of: frame) &+ 2)) &* hashFactor
      hash = hash << 29 | hash >> 35
    }
    return walk.lacksRoot ? (hash ^ 1) &* hashFactor : hash
  }

  private func readsAlike(_ first: StackID, _ second: StackID) -> Bool {
    var (first, second) = (stacks.walk(first), stacks.walk(second))
    while let frame = first.next() {
      guard let other = second.next(), text(of: frame) == text(of: other) else { return false }
    }
    return second.next() == nil && first.lacksRoot == second.lacksRoot
  }

  /// A number for what is printed of a recorded frame.
  private func text(of frame: RawFrame) -> Int {
    let location = location(of: frame)
    if let known = textOfLocation[location] { return known }
    let number = texts.number(of: frames(of: frame).map(\.asRead))
    textOfLocation[location] = number
    return number
  }

  /// The recorded frames of a backtrace, leaf first, each with the number of its location.
  ///
  /// Where the numbers are equal, so are ``frames(of:)``: there are far fewer than nodes in the stack
  /// table.
  func locations(of stack: StackID) -> some Sequence<(location: Int, frame: RawFrame)> {
    stacks.walk(stack).lazy.map { (self.location(of: $0), $0) }
  }

  /// Whether the outermost frames of a backtrace are missing.
  func lacksRoot(_ stack: StackID) -> Bool {
    stacks.lacksRoot(stack)
  }

  /// The frame that is held responsible, see `ResponsibleFrame`; nil without a stack.
  public func responsible(of stack: StackID) -> ReportFrame? {
    symbolicator.responsiblePlace(of: stack).map { frames(at: $0.location)[$0.position] }
  }

  /// The frame that is named as where suspended functions go on, the innermost first.
  func responsible(ofCodeAt addresses: [UInt64], at time: EventTime) -> ReportFrame? {
    symbolicator.responsibleFrame(ofCodeAt: addresses.map { Address($0) }, at: time).map {
      ReportFrame($0, fullNames: fullNames)
    }
  }

  /// The innermost function of a backtrace; nil without a stack and where the name is not known.
  func leafFunction(of stack: StackID) -> FunctionName? {
    symbolicator.leafFrame(of: stack)?.function
  }

  /// The image whose code called the allocator.
  func image(thatCallsAllocatorIn stack: StackID) -> String? {
    symbolicator.leafFrame(of: stack)?.imagePath
  }

  /// Whether Rust code is on the stacks, as far as a few of them tell.
  var seesRust: Bool { symbolicator.seesRust }

  /// What a standard library or the Swift runtime allocated; nil where it was none of them.
  func container(of stack: StackID) -> TypeName? {
    symbolicator.container(of: stack)
  }

  /// What a container of the program or of another library has from an allocator of the standard library of C++.
  ///
  /// What is larger need not be an array: containers put other things behind the first element.
  ///
  /// - Parameters:
  ///   - stack: One of which ``container(of:)`` tells nothing.
  ///   - sizeClass: Of the block.
  /// - Returns: `Foo`, or `Foo storage` where the block is larger; nil where it was none.
  func elements(of stack: StackID, _ sizeClass: SizeClass) -> TypeName? {
    guard let type = symbolicator.elementType(of: stack) else { return nil }
    let size = objectSize(of: type.full, allocatedBy: stack)
    if let size, SizeClass(containing: size) == sizeClass { return type }
    return TypeName(
      short: "\(type.short) storage", full: "\(type.full) storage", language: .cxx)
  }

  /// Whether a stack is one that allocates side tables of Swift objects.
  func isSideTable(of stack: StackID) -> Bool {
    symbolicator.isSideTable(of: stack)
  }

  /// Whether a stack is one by which the Swift runtime keeps what it knows of types.
  func isSwiftMetadata(of stack: StackID) -> Bool {
    symbolicator.isSwiftMetadata(of: stack)
  }

  /// Whether a stack is one by which the Swift runtime may allocate something for itself that has no name.
  func isUnnamedOfSwiftRuntime(_ stack: StackID) -> Bool {
    symbolicator.isUnnamedOfSwiftRuntime(stack)
  }

  /// Whether a stack is one that allocates a value of Rust which counts its references.
  func countsReferences(of stack: StackID) -> Bool {
    symbolicator.countsReferences(of: stack)
  }

  /// Whether a stack is one that allocates a table of Rust's `HashMap` or `HashSet`.
  func isHashTable(of stack: StackID) -> Bool { symbolicator.isHashTable(of: stack) }

  /// Whether a stack is one that allocates the buffer of a stream of the C library, or the table in which CoreFoundation
  /// numbers the functions that collections call (`CFBasicHash.c`).
  func holdsNoPointers(of stack: StackID) -> Bool {
    guard let function = leafFunction(of: stack)?.base else { return false }
    return function == "_IO_file_doallocate" || function == "__CFBasicHashGetPtrIndex_block_invoke"
  }

  /// Whether a stack is one by which libdispatch allocates for itself.
  func isOfDispatch(of stack: StackID) -> Bool {
    guard let function = leafFunction(of: stack)?.base else { return false }
    return function.hasPrefix("_dispatch_") || function.hasPrefix("dispatch_")
  }

  /// Whether a stack is one by which GObject allocates, with a function of GLib or without.
  func isOfGObject(of stack: StackID) -> Bool {
    innermostFrames(of: stack).prefix(3).lazy.compactMap(\.image).map(ReportFrame.lastComponent)
      .first { !$0.hasPrefix("libglib-2.0.so") }?.hasPrefix("libgobject-2.0.so") ?? false
  }

  /// The frame that is held responsible with its symbol; nil without a stack.
  func responsibleSymbol(of stack: StackID) -> SymbolicatedFrame? {
    symbolicator.responsibleFrame(of: stack)
  }

  /// The type that the source names where it allocates, as one of the image that is held responsible;
  /// nil where that is not known.
  func allocatedType(of stack: StackID, by operation: Operation) -> TypeName? {
    var type = symbolicator.allocatedType(of: stack, isNew: operation.isOperatorNew)
    type?.imagePath = responsibleSymbol(of: stack)?.imagePath
    return type
  }

  /// The member of a block of C or C++ that may hold a pointer; nil where that is not known.
  func member(at place: MemberPlace, allocatedBy stack: StackID) -> BlockMember? {
    symbolicator.member(at: place, allocatedBy: stack)
  }

  /// The bytes of an object of a class of C++; nil where they are not known.
  func objectSize(of type: String, allocatedBy stack: StackID) -> UInt64? {
    symbolicator.objectSize(of: type, allocatedBy: stack)
  }

  /// The source line that a frame is at; nil when it is not at hand or has changed since.
  func sourceLine(of frame: ReportFrame) -> String? {
    guard let file = frame.file, let line = frame.line else { return nil }
    return symbolicator.sourceLine(at: SourceLocation(path: file, line: line))
  }

  /// What could not be symbolicated and why.
  public var warnings: [String] { symbolicator.warnings.map(\.description) }

  /// The same in a line or two.
  public var missing: MissingNames { MissingNames(symbolicator.warnings) }

  private func location(of frame: RawFrame) -> Int {
    guard let number = stacks.frameNumber(of: frame.node) else {
      return symbolicator.location(of: frame)
    }
    let era = images.era(of: frame.node)
    if lastLocations[number].era == era { return lastLocations[number].location }
    let found = symbolicator.location(of: frame)
    lastLocations[number] = (era, found)
    return found
  }

  /// The frames of one recorded frame: several where calls were inlined, innermost first.
  package func frames(of frame: RawFrame) -> [ReportFrame] { frames(at: location(of: frame)) }

  private func frames(at location: Int) -> [ReportFrame] {
    if let known = framesOfLocation[location] { return known }
    let found = symbolicator.frames(at: location).map { ReportFrame($0, fullNames: fullNames) }
    framesOfLocation[location] = found
    return found
  }
}

import TraceReader

extension ErrorText {
  /// What to change in the program, in one sentence.
  var advice: String {
    switch entry.kind {
    case .doubleFree: return doubleFreeAdvice
    case .reallocOfFreed:
      return "after free or realloc use only the pointer that the last realloc returned"
    case .freeOfInterior(let offset):
      return countAdvice(inFrontOf: offset) ?? baseAdvice ?? interiorAdvice
    case .freeOfUnknown: return arrayDeleteAdvice ?? unknownAdvice
    case .mismatched where isOfAnnounced:
      return
        "the block is one of \(allocator), not of the allocator that takes it back: free it with "
        + counterpart(of: allocator)
    case .mismatched where allocator == Operation.announced.name:
      return "give the block back to the allocator of the program that handed it out"
    case .mismatched:
      return "free what \(allocator) returned with \(counterpart(of: allocator))"
    case .wrongSize:
      return Self.virtualDestructorAdvice
    case .overRelease: return overReleaseAdvice
    case .useAfterFree, .accessAfterFree: return useAdvice
    case .outOfBounds: return boundsAdvice
    case .writeAfterFree: return writeAdvice
    case .heapOverflow: return overflowAdvice
    case .heapUnderflow: return underflowAdvice
    case .wrongAlignment:
      return "delete as the type that was allocated, with the alignment it was allocated with"
    }
  }

  private static let virtualDestructorAdvice =
    "delete as the type that was allocated; a base class needs a virtual destructor"

  /// For `delete` of an object by the address of a base that does not lie at its beginning.
  private var baseAdvice: String? {
    guard allocator.hasPrefix("operator new"), !allocator.hasPrefix("operator new[]"),
      entry.offending.function.hasPrefix("operator delete"), !isArrayDelete
    else { return nil }
    return Self.virtualDestructorAdvice
  }

  private var interiorAdvice: String {
    let start = entry.block.map { HexText.of($0.address) } ?? "the start of the block"
    if entry.firstFree != nil { return "take this \(call) away: the block was freed before" }
    if isOfAnnounced { return "\(call) \(start), which was announced, not an address in the block" }
    return "\(call) \(start), the pointer that \(allocator) returned, not one into the block"
  }

  private var unknownAdvice: String {
    if isOfAnnounced {
      return "\(call) only what was announced before, and announce all that the allocator hands out"
    }
    if let variable = entry.variable {
      return "\(call) only what malloc and its kin returned, not a variable or constant of "
        + ReportFrame.lastComponent(variable.image)
    }
    if let place = entry.place {
      return "\(call) only what malloc and its kin returned, not \(place.advice)"
    }
    guard let block = entry.neighbour else {
      return "\(call) only what malloc and its kin returned; this may be a variable, part of an "
        + "array, or a block of another allocator"
    }
    let start = HexText.of(block.address)
    return "\(call) only what malloc and its kin returned; if that block is meant, \(start)"
  }

  /// For `delete` of an array that begins so far in its block, behind the number of its elements.
  private func countAdvice(inFrontOf offset: UInt64) -> String? {
    guard let block = entry.block, allocator.hasPrefix("operator new[]"),
      entry.offending.function.hasPrefix("operator delete"), !isArrayDelete,
      Self.isCount(offset, alignment: block.alignment)
    else { return nil }
    return "free the array with \(counterpart(of: allocator)), not with delete: \(allocator) put "
      + "the number of its elements in front of them"
  }

  /// For `delete[]` of what is no array, and has no number of elements in front of it.
  private var arrayDeleteAdvice: String? {
    guard let block = entry.neighbour, isArrayDelete, block.address > entry.address,
      Self.isCount(block.address - entry.address, alignment: block.alignment),
      !block.allocated.function.hasPrefix("operator new[]")
    else { return nil }
    let function = block.allocated.function
    return "free what \(function) returned with \(counterpart(of: function)), not with delete[], "
      + "which goes \(bytes.withUnit(block.address - entry.address)) back to where the number of an "
      + "array's elements would be"
  }

  private var isArrayDelete: Bool { entry.offending.function.hasPrefix("operator delete[]") }

  /// Whether so many bytes are what C++ puts in front of the elements of an array for their number.
  private static func isCount(_ distance: UInt64, alignment: UInt64) -> Bool {
    distance == 8 || distance == 16 || (distance == alignment && alignment > 16)
  }

  private var doubleFreeAdvice: String {
    guard let first = entry.firstFree else { return "free the block once" }
    if isOfAnnounced, first.function != entry.offending.function {
      let owner =
        first.function == Operation.announced.name
        ? "gave its memory to another block"
        : "ended what the block lay in"
      return
        "\(freer(in: first) ?? "the program") \(owner); take blocks back before that, or not at all"
    }
    if first.function.hasPrefix("realloc") {
      return "\(first.function) gave the block back; free the pointer that it returned instead"
    }
    guard let one = freer(in: first), let other = freer(in: entry.offending) else {
      return "let one owner free the block"
    }
    guard one != other else {
      if Self.destroyed(by: one) != nil {
        return "\(one) frees the block for two objects that are copies of each other, or twice for "
          + "one: copy the block where the object is copied (copy constructor and assignment), or "
          + "let a std::shared_ptr own it"
      }
      return callersAdvice(of: one, first)
        ?? "\(one) frees the block twice; clear the pointer after the first time"
    }
    return "\(one) and \(other) \(bothFree(first))"
  }

  /// `both free the block; let one of them own it`.
  private func bothFree(_ first: EventSummary, by common: String = "") -> String {
    let threads = first.thread == entry.offending.thread ? "" : " on different threads"
    return "both free the block\(common)\(threads); let one of them own it"
  }

  /// For a function that frees what its callers give it, which cannot mend what two of them do.
  private func callersAdvice(of function: String, _ first: EventSummary) -> String? {
    let stacks = [first, entry.offending].map { event in
      event.frames.filter { $0.role == .user }.map(\.name)
    }
    guard let (one, other) = zip(stacks[0], stacks[1]).first(where: { $0 != $1 }) else {
      return nil
    }
    return "\(one) and \(other) \(bothFree(first, by: " by \(function)"))"
  }

  private var useAdvice: String {
    let user = Self.caller(of: entry.offending) ?? "the program"
    if let releaser {
      return "\(user) uses \(object) that \(releaser == user ? "it" : releaser) has released; "
        + objectAdvice
    }
    guard let freer = entry.firstFree.flatMap(freer(in:)) else {
      return "clear the pointers to a block before it is freed; \(user) still has one"
    }
    guard user != freer else {
      return "\(user) uses the block again that it has freed; clear the pointer after the free"
    }
    return "\(user) uses what \(freer) has freed; free the block after its last use, or clear the "
      + "pointer that \(user) took"
  }

  private var writeAdvice: String {
    if let releaser {
      return "something uses \(object) that \(releaser) has released; \(objectAdvice)"
    }
    let freer = entry.firstFree.flatMap(freer(in:)) ?? "the program"
    return "\(freer) frees the block while something still writes through a pointer to it; free it "
      + "after its last use; memtrace dangling may show who still points to it, "
      + "\(guardedRecording) who writes"
  }

  private var objectAdvice: String {
    let pointers =
      isElements
      ? "a pointer into it is good only within the call (withUnsafe…) that gave it: " : ""
    return "\(pointers)keep a reference to it until its last use, or remove the release "
      + "that is one too many; record --refcounts shows who retained and released it"
  }

  private var object: String { isElements ? "an array or text" : "an object" }

  /// Whether the block is what Swift's arrays and texts give pointers into.
  private var isElements: Bool {
    guard let block = entry.block, block.isSwiftObject, block.category.hasSuffix(" storage") else {
      return false
    }
    return block.category.hasPrefix("Array<") || block.category.hasPrefix("String ")
  }

  /// For an object of Swift, the function whose release was its last, or that of its owner: what took
  /// the object down and freed its block was made by the compiler, perhaps within that function.
  private var releaser: String? {
    guard let free = entry.firstFree else { return nil }
    let functions = free.frames.filter { $0.role == .user }.map(\.name)
    let callers = functions.drop {
      $0.contains("_deallocating_deinit") || $0.hasSuffix(".deinit")
    }
    let isObject = entry.block?.isSwiftObject == true && free.function == "free"
    return callers.count < functions.count || isObject ? callers.first ?? "the program" : nil
  }

  private var overflowAdvice: String {
    let maker = entry.block.flatMap(Self.maker(of:)) ?? "the program"
    let next = isOutOfReach ? "" : "; \(guardedRecording) shows who writes"
    return "look at what is written to the block that \(maker) allocates: it needs more bytes, or "
      + "a loop or a copy goes too far\(next)"
  }

  private var underflowAdvice: String {
    let maker = entry.block.flatMap(Self.maker(of:)) ?? "the program"
    let recording = entry.block.map { "record --guard=\($0.size)" } ?? "record --guard"
    return
      "look at what is written to the block that \(maker) allocates: an index is below 0, or a "
      + "pointer goes back too far; \(recording) --guard-front shows who writes"
  }

  /// The option that stops the one who writes.
  private var guardedRecording: String {
    guard let block = entry.block else { return "record --guard" }
    return "record --guard=\(block.size)" + (needsAlignment(block) ? " --guard-alignment=1" : "")
  }

  /// Whether the write lies between the block and its guard, as blocks are aligned by themselves.
  private func needsAlignment(_ block: ErrorsReport.Block) -> Bool {
    guard case .heapOverflow(let offset, let length, _, _) = entry.kind else { return false }
    let (guardOffset, isPastAll) = Self.room(of: block).addingReportingOverflow(15)
    return isPastAll || offset &+ length <= guardOffset & ~15
  }

  /// Whether no guard can stop the write: that to the one byte that a block of none has.
  private var isOutOfReach: Bool {
    guard let block = entry.block, case .heapOverflow(let offset, let length, _, _) = entry.kind
    else { return false }
    return offset &+ length <= Self.room(of: block)
  }

  /// The bytes that lie in front of a block's guard at least: also a block of none has an address of its
  /// own.
  private static func room(of block: ErrorsReport.Block) -> UInt64 { max(block.size, 1) }

  private var boundsAdvice: String {
    let user = Self.caller(of: entry.offending) ?? "the program"
    guard let block = entry.block, let maker = Self.maker(of: block) else {
      return "\(user) leaves the block; stop at its end"
    }
    if case .outOfBounds(let access) = entry.kind, access.offset < 0 {
      return
        "\(user) goes in front of the block that \(maker == user ? "it" : maker) allocates: an index is "
        + "below 0, or a pointer goes back too far"
    }
    return "\(user) goes beyond the \(bytes.withUnit(block.size)) that "
      + "\(maker == user ? "it" : maker) asked for: ask for more, or stop earlier"
  }

  private var overReleaseAdvice: String {
    guard let function = entry.unbalanced.first.flatMap(Self.caller(of:)) else {
      let user = Self.caller(of: entry.offending) ?? "the program"
      if let releaser {
        return "\(user) uses an object that \(releaser == user ? "it" : releaser) has released, by "
          + "itself or with what held it; keep a reference to it for as long as it is used; "
          + "memtrace history \(HexText.of(entry.address)) shows its count"
      }
      return "keep a reference to the object for as long as it is used; memtrace history "
        + "\(HexText.of(entry.address)) shows its count"
    }
    return "\(function) releases the object without having retained it; memtrace history "
      + "\(HexText.of(entry.address)) shows its count"
  }

  /// The function that wanted a block, and knows its size.
  private static func maker(of block: ErrorsReport.Block) -> String? {
    block.responsible.flatMap { $0.role == .user ? $0.name : nil } ?? caller(of: block.allocated)
  }

  /// The function to look at in a stack.
  private static func caller(of event: EventSummary) -> String? {
    let frame = event.frames.first { $0.role == .user }
    return frame?.name ?? StackText.withoutLeadingRuntime(event.frames).first?.name
  }

  /// The function to look at in the stack of a deallocation: not the part of a destructor that
  /// compilers write for `delete`.
  private func freer(in event: EventSummary) -> String? {
    var event = event
    if let position = event.frames.firstIndex(where: { $0.role == .user }),
      isDeletingDestructor(event.frames[position], calling: event.function)
    {
      let others = event.frames[(position + 1)...]
      if others.contains(where: { $0.role == .user }) { event.frames = Array(others) }
    }
    return Self.caller(of: event)
  }

  private func isDeletingDestructor(_ frame: ReportFrame, calling function: String) -> Bool {
    guard function.hasPrefix("operator delete"), !function.hasPrefix("operator delete[]"),
      let type = Self.destroyed(by: frame.name)
    else { return false }
    return frame.symbol?.hasSuffix("D0Ev") == true || type == entry.block?.category
  }

  /// The class whose destructor a function is: `Buffer` of `Buffer::~Buffer()`.
  private static func destroyed(by function: String) -> String? {
    function.range(of: "::~").map { String(function[..<$0.lowerBound]) }
  }

  private var allocator: String { entry.block?.allocated.function ?? "the allocation" }

  /// The deallocation that belongs to an allocation.
  private func counterpart(of allocator: String) -> String {
    let aligned = allocator.contains("(align_val_t") ? " and the same alignment" : ""
    if allocator.hasPrefix("operator new[]") { return "delete[]" + aligned }
    if allocator.hasPrefix("operator new") { return "delete" + aligned }
    return "free"
  }
}

extension ErrorText {
  /// What to change in the program, in one sentence.
  var advice: String {
    switch entry.kind {
    case .doubleFree: return doubleFreeAdvice
    case .reallocOfFreed:
      return "after free or realloc use only the pointer that the last realloc returned"
    case .freeOfInterior:
      let start = entry.block.map { HexText.of($0.address) } ?? "the start of the block"
      return "\(call) \(start), the pointer that \(allocator) returned, not one into the block"
    case .freeOfUnknown where entry.neighbour != nil:
      let start = entry.neighbour.map { HexText.of($0.address) } ?? "the start of the block"
      return "\(call) only what malloc and its kin returned; if that block is meant, \(start)"
    case .freeOfUnknown:
      return "\(call) only what malloc and its kin returned; this may be a variable, part of an "
        + "array, or a block of another allocator"
    case .mismatched: return "free what \(allocator) returned with \(counterpart)"
    case .wrongSize:
      return "delete as the type that was allocated; a base class needs a virtual destructor"
    case .overRelease: return overReleaseAdvice
    case .useAfterFree, .accessAfterFree: return useAdvice
    case .outOfBounds: return boundsAdvice
    case .writeAfterFree: return writeAdvice
    case .heapOverflow: return overflowAdvice
    case .wrongAlignment:
      return "delete as the type that was allocated, with the alignment it was allocated with"
    }
  }

  private var doubleFreeAdvice: String {
    guard let first = entry.firstFree else { return "free the block once" }
    if first.function.hasPrefix("realloc") {
      return "\(first.function) gave the block back; free the pointer that it returned instead"
    }
    guard let one = Self.caller(of: first), let other = Self.caller(of: entry.offending) else {
      return "let one owner free the block"
    }
    guard one != other else {
      return "\(one) frees the block twice; clear the pointer after the first time"
    }
    let threads = first.thread == entry.offending.thread ? "" : " on different threads"
    return "\(one) and \(other) both free the block\(threads); let one of them own it"
  }

  private var useAdvice: String {
    let user = Self.caller(of: entry.offending) ?? "the program"
    guard let freer = entry.firstFree.flatMap(Self.caller(of:)) else {
      return "clear the pointers to a block before it is freed; \(user) still has one"
    }
    return "\(user) uses what \(freer) has freed; free the block after its last use, or clear the "
      + "pointer that \(user) took"
  }

  private var writeAdvice: String {
    let freer = entry.firstFree.flatMap(Self.caller(of:)) ?? "the program"
    return "\(freer) frees the block while something still writes through a pointer to it; free it "
      + "after its last use; memtrace dangling may show who still points to it, "
      + "\(guardedRecording) who writes"
  }

  private var overflowAdvice: String {
    let maker = entry.block.map(\.allocated).flatMap(Self.caller(of:)) ?? "the program"
    return "look at what is written to the block that \(maker) allocates: it needs more bytes, or "
      + "a loop or a copy goes too far; \(guardedRecording) shows who writes"
  }

  /// The option that stops the one who writes.
  private var guardedRecording: String {
    guard let block = entry.block else { return "record --guard" }
    return "record --guard=\(block.size)" + (needsAlignment(block) ? " --guard-alignment=1" : "")
  }

  /// Whether the write lies between the block and its guard, as blocks are aligned by themselves.
  private func needsAlignment(_ block: ErrorsReport.Block) -> Bool {
    guard case .heapOverflow(let offset, let length, _, _) = entry.kind else { return false }
    let (guardOffset, isPastAll) = block.size.addingReportingOverflow(15)
    return isPastAll || offset &+ length <= guardOffset & ~15
  }

  private var boundsAdvice: String {
    let user = Self.caller(of: entry.offending) ?? "the program"
    guard let block = entry.block, let maker = Self.caller(of: block.allocated) else {
      return "\(user) leaves the block; stop at its end"
    }
    return "\(user) goes beyond the \(bytes.format(block.size)) that "
      + "\(maker == user ? "it" : maker) asked for: ask for more, or stop earlier"
  }

  private var overReleaseAdvice: String {
    guard let function = entry.unbalanced.first.flatMap(Self.caller(of:)) else {
      return "keep a reference to the object for as long as it is used; memtrace history "
        + "\(HexText.of(entry.address)) shows its count"
    }
    return "\(function) releases the object without having retained it; memtrace history "
      + "\(HexText.of(entry.address)) shows its count"
  }

  /// The function to look at in a stack.
  private static func caller(of event: EventSummary) -> String? {
    let frame = event.frames.first { $0.role == .user }
    return frame?.name ?? StackText.withoutLeadingRuntime(event.frames).first?.name
  }

  private var allocator: String { entry.block?.allocated.function ?? "the allocation" }

  /// The deallocation that belongs to the allocation.
  private var counterpart: String {
    let aligned = allocator.hasSuffix("(align_val_t)") ? " and the same alignment" : ""
    if allocator.hasPrefix("operator new[]") { return "delete[]" + aligned }
    if allocator.hasPrefix("operator new") { return "delete" + aligned }
    return "free"
  }
}

import LeakAnalysis
import TraceReader

/// Names what dangling pointers are in, and what they point to.
///
/// Belongs to one thread at a time.
final class DanglingNames {
  private let heap: HeapImage
  private let source: ReportSource
  private let types: SnapshotTypeNames
  private let roots: RootNames
  private var exits: [StackID: Bool] = [:]

  init(_ heap: HeapImage, _ source: ReportSource) {
    (self.heap, self.source) = (heap, source)
    types = SnapshotTypeNames(source)
    roots = RootNames(source: source, info: heap.info)
  }

  /// What holds a pointer: `variable cache in app`, `Node.next`, `struct node + 8`, and where in the block it is.
  ///
  /// Without the place in arrays, where each means the same.
  func holder(of pointer: DanglingPointer) -> (text: String, offset: UInt64?) {
    switch pointer.holder {
    case .root(let slot):
      let isPrecise = slot.root.category == .global && !isArray(variable(slot))
      return (isPrecise ? roots.text(slot) : roots.groupText(slot), nil)
    case .block(let block):
      let name = types.detailedCategory(of: block, in: heap).name
      guard heap.blocks.size(of: block) <= DanglingPointer.greatestStructure else {
        return (name, nil)
      }
      let field = types.field(at: pointer.offset, of: block, in: heap)
      let text = field.map { Self.text(of: $0, in: name) } ?? "\(name) + \(pointer.offset)"
      return (text, pointer.offset)
    }
  }

  /// `Node.next`, `struct page[1].text`, `std::vector<Part*>[1]`.
  private static func text(of field: String, in type: String) -> String {
    guard field.hasPrefix("["),
      let suffix = ["[]", " storage"].first(where: { type.hasSuffix($0) })
    else { return "\(type).\(field)" }
    return type.dropLast(suffix.count) + field
  }

  /// Whether somebody may follow a pointer: what a variable keeps only to identify an object is none, nor is a number.
  func mayPoint(_ pointer: DanglingPointer) -> Bool {
    guard pointer.confidence != .doubtful, case .root(let slot) = pointer.holder,
      slot.root.category == .global
    else { return true }
    return variable(slot)?.mayPoint ?? true
  }

  /// How sure a pointer is, with what is known of the variable or the object that it is in.
  func confidence(of pointer: DanglingPointer) -> DanglingPointer.Confidence {
    guard pointer.confidence != .doubtful, isUncertain(pointer.holder) else {
      return pointer.confidence
    }
    return pointer.isStart ? .possible : .doubtful
  }

  /// Whether what a holder has may not be in use: what has no name may be part of an array, and Python keeps dead
  /// objects for those to come.
  private func isUncertain(_ holder: Reachability.Holder) -> Bool {
    switch holder {
    case .root(let slot):
      guard slot.root.category == .global else { return false }
      let variable = variable(slot)
      return variable?.name == nil || isArray(variable)
    case .block(let block):
      return types.detailedCategory(of: block, in: heap).kind == .type(.python)
    }
  }

  private func variable(_ slot: RootSlot) -> ReportVariable? {
    source.variables.variable(at: slot.address, time: heap.info.time)
  }

  private func isArray(_ variable: ReportVariable?) -> Bool {
    variable?.size.map { $0 > DanglingPointer.greatestStructure } ?? false
  }

  /// The kind of memory: `block`, `variable`, `thread-local variable`, `mapping`, `stack`, `register`.
  func kind(of holder: Reachability.Holder) -> String {
    guard case .root(let slot) = holder else { return "block" }
    return switch slot.root.category {
    case .global: "variable"
    case .threadLocal: "thread-local variable"
    case .mapping: "mapping"
    case .unknownHeap: "unknown heap"
    case .stack: "stack"
    case .registers: "register"
    case .kernel: "kernel"
    case .signalStack: "signal stack"
    case .ignored: "ignored"
    case .immortal: "immortal"
    }
  }

  /// Who allocated the holding block; nil for a root.
  func allocation(of holder: Reachability.Holder) -> EventSummary? {
    guard case .block(let block) = holder else { return nil }
    let site = heap.blocks.site(of: block)
    return EventSummary(
      operation: site.operation, thread: site.thread, time: heap.blocks.time(of: block),
      stack: site.stack, source: source)
  }

  /// What a freed block was, as far as its stack tells.
  func category(of block: PastBlock) -> BlockCategory {
    let site = block.allocation
    let live = LiveBlock(
      address: Address(block.address), size: block.size, operation: site.operation,
      stack: site.stack, thread: site.thread, time: site.time, site: 0)
    return source.categories.category(of: live, in: nil).category
  }

  /// The addresses of a pointer.
  func example(of pointer: DanglingPointer) -> DanglingReport.Example {
    var example = DanglingReport.Example(
      holder: nil, holderBlock: nil, pointer: pointer.value, block: pointer.freed.address,
      size: pointer.freed.size, mayBeEarlier: !pointer.freed.isFirst)
    switch pointer.holder {
    case .root(let slot):
      if ![.registers, .kernel].contains(slot.root.category) { example.holder = slot.address }
    case .block(let block):
      example.holderBlock = heap.blocks.address(of: block)
      example.holder = heap.blocks.address(of: block) &+ pointer.offset
    }
    return example
  }

  /// Whether a stack is that of a handler that runs when the process ends: what it frees nobody uses again, and
  /// variables go on pointing to it.
  func isFreedAtExit(_ stack: StackID) -> Bool {
    if let known = exits[stack] { return known }
    let isExit = source.names.frames(of: stack).contains { Self.exitFunctions.contains($0.name) }
    exits[stack] = isExit
    return isExit
  }

  private static let exitFunctions: Set<String> = [
    "exit", "__GI_exit", "quick_exit", "__run_exit_handlers", "__cxa_finalize", "_dl_fini",
    "__libc_freeres",
  ]
}

import LeakAnalysis
import TraceReader

/// The leaks of another trace, which are known already.
public struct LeakBaseline: Sendable {
  /// The trace, as the user named it.
  public let name: String
  private var counts: [LeakKind: UInt64] = [:]

  /// Counts the leaks of a trace that a query asks for.
  ///
  /// - Parameters:
  ///   - analysis: The heap of the other trace.
  ///   - source: Names of the other trace.
  ///   - query: What is asked of the trace that is compared. A filter that fits nothing in the other
  ///     trace is no error: nothing is known then.
  ///   - name: The trace, as the user named it.
  public init(_ analysis: LeakAnalysis, source: ReportSource, query: LeaksQuery, name: String) {
    self.name = name
    let types = SnapshotTypeNames(source)
    guard let selection = try? LeakSelection(analysis, source, types, query) else { return }
    var kinds = LeakKinds(heap: analysis.heap, source: source, types: types)
    for node in 0..<analysis.leaks.count where selection.isCounted[node] {
      counts[kinds.kind(of: analysis.leaks.block(of: node)), default: 0] &+= 1
    }
  }

  /// For each leaked block whether it is counted, and more than the other trace has: of blocks that
  /// are alike the oldest count as known.
  func new(
    _ isCounted: Bits, of analysis: LeakAnalysis, _ source: ReportSource, _ types: any TypeNaming
  ) -> Bits {
    var isNew = isCounted
    var left = counts
    var kinds = LeakKinds(heap: analysis.heap, source: source, types: types)
    let age = { analysis.heap.blocks.order(of: analysis.leaks.block(of: $0)) }
    let counted = (0..<isCounted.count).filter { isCounted[$0] }
      .sorted { age($0) < age($1) }
    for node in counted {
      let kind = kinds.kind(of: analysis.leaks.block(of: node))
      guard let known = left[kind], known > 0 else { continue }
      left[kind] = known - 1
      isNew[node] = false
    }
    return isNew
  }
}

/// What a leaked block has in common with blocks of another recording, perhaps of another build.
private struct LeakKind: Hashable {
  var category: String
  /// Names of functions and images, without lines and addresses.
  var stack: String
}

/// Finds out the kinds of the blocks of one heap.
private struct LeakKinds {
  private let heap: HeapImage
  private let source: ReportSource
  private let types: any TypeNaming
  private var stacks: [StackID: String] = [:]

  init(heap: HeapImage, source: ReportSource, types: any TypeNaming) {
    self.heap = heap
    self.source = source
    self.types = types
  }

  mutating func kind(of block: Int) -> LeakKind {
    LeakKind(
      category: types.category(of: block, in: heap).name,
      stack: text(of: heap.blocks.site(of: block).stack))
  }

  private mutating func text(of stack: StackID) -> String {
    if let known = stacks[stack] { return known }
    let text = source.names.frames(of: stack).map { "\($0.name) \($0.imageName ?? "")" }
      .joined(separator: "\n")
    stacks[stack] = text
    return text
  }
}

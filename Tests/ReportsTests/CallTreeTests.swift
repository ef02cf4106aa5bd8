import Symbolication
import Testing

@testable import Reports
@testable import TraceReader

@Suite struct CallTreeTests {
  private func names(
    _ stacks: [UInt32], _ change: (inout CallTreeQuery) -> Void = { _ in }
  ) throws -> [String] {
    var result = ReplayResult()
    result.sites = stacks.map { SampleTrace.site(stack: $0, size: 16, count: 1) }
    var query = CallTreeQuery()
    change(&query)
    let report = try CallTreeReport(result, source: SampleTrace().source, query: query)
    return report.nodes.map { String(repeating: "-", count: $0.depth) + $0.name }
  }

  @Test func commonBeginningsAreOneBranch() throws {
    #expect(try names([4, 5]) == ["main", "-emit", "-parse", "--make_node"])
  }

  @Test func aStackThatWasCutHangsBelowAMarker() throws {
    #expect(try names([7]) == ["<callers not known>", "-worker"])
  }

  @Test func withoutAStackThereIsAMarker() throws {
    #expect(try names([0]) == ["<no stack recorded>"])
  }

  @Test func systemFramesAreLeftOut() throws {
    #expect(try names([6]) == ["main", "-inflateInit_"])
    #expect(try names([6]) { $0.options.hidesSystem = true } == ["main"])
  }

  @Test func theInvertedTreeBeginsWithTheAllocatingFunction() throws {
    #expect(
      try names([4]) { $0.options.isInverted = true } == ["make_node", "-parse", "--main"])
  }

  @Test func recursionIsFlattened() throws {
    let symbolicator = FakeSymbolicator()
    symbolicator.add("main", at: 0x1000)
    symbolicator.add("walk", at: 0x1001)
    symbolicator.add("walk", at: 0x1002)
    let nodes = [0x1000, 0x1001, 0x1002, 0x1002].enumerated().map { index, pc in
      StackTable.Node(pc: UInt64(pc), parent: index == 0 ? 0 : UInt32(index + 1), flags: 0)
    }
    let stacks = StackTable(
      nodes: nodes, spans: [StackTable.Span(first: 2, count: 4, position: 0)])
    var source = SampleTrace().source
    source.names = StackNames(
      stacks: stacks, images: ImageMap(images: []), symbolicator: symbolicator)
    let sites = [SampleTrace.site(stack: 5, size: 16, count: 1)]
    var options = CallTreeOptions()
    #expect(CallTree(sites, source: source, options: options).nodes.count == 5)
    options.flattensRecursion = true
    #expect(CallTree(sites, source: source, options: options).nodes.count == 3)
  }

  @Test func smallBranchesAndSurplusLinesAreLeftOut() throws {
    #expect(try names([4, 4, 4, 5]) { $0.leastShare = 300 } == ["main", "-parse", "--make_node"])
    #expect(try names([4, 5]) { $0.top = 2 } == ["main", "-emit"])
  }
}

import Testing

@testable import TraceReader

@Suite struct StackNodesTests {
  /// Some more than fit into two segments.
  private static let count = 70_000

  private static func node(_ number: Int) -> StackTable.Node {
    StackTable.Node(
      pc: UInt64(number % 1000) << 40 | 7, parent: UInt32(number), flags: UInt32(number % 4))
  }

  private static var nodes: StackNodes {
    var nodes = StackNodes()
    for number in 0..<count { nodes.append(node(number)) }
    return nodes
  }

  private func isKept(_ number: Int, in nodes: StackNodes) -> Bool {
    let (kept, wanted) = (nodes[number], Self.node(number))
    return kept.pc == wanted.pc && kept.parent == wanted.parent && kept.flags == wanted.flags
      && nodes.pc(at: number) == wanted.pc
  }

  @Test func nodesAreKeptAsTheyWere() {
    var nodes = Self.nodes
    nodes.finish()
    #expect(nodes.count == Self.count)
    #expect((0..<Self.count).allSatisfy { isKept($0, in: nodes) })
  }

  @Test func anAddressIsKeptOnce() {
    #expect(Self.nodes.memory == Self.count * 8 + 1000 * 24)
  }

  @Test(arguments: [0, 1, 4463, 4464, 4465, 40_000, 69_999, 70_000])
  func theLastOnesAreTakenAway(_ number: Int) {
    var nodes = Self.nodes
    nodes.removeLast(number)
    #expect(nodes.count == Self.count - number)
    for number in nodes.count..<Self.count { nodes.append(Self.node(number)) }
    #expect((0..<Self.count).allSatisfy { isKept($0, in: nodes) })
  }

  /// As a trace may have them that was made for it: each search would go through all of them.
  @Test(ForgedKeys.timeLimit) func addressesOfOnePlaceAreFound() {
    var addresses = DistinctAddresses()
    let count = ForgedKeys.count
    for _ in 0..<2 {
      let found = (0..<count).count {
        addresses.place(of: $0 &* ForgedKeys.inverse) == UInt32($0)
      }
      #expect(found == Int(count))
    }
    #expect((0..<count).allSatisfy { addresses[UInt32($0)] == $0 &* ForgedKeys.inverse })
  }
}

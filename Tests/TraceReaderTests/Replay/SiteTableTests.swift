import Testing

@testable import TraceReader

@Suite struct SiteTableTests {
  /// As a trace may have them that was made for it: each search would go through all of them.
  @Test(ForgedKeys.timeLimit) func sitesOfOnePlaceAreFound() {
    let count = ForgedKeys.count
    var table = SiteTable(stackCount: 16, table: OperationTable())
    #expect(ForgedKeys.site(hash: 4711).hash(HashFactor.usual) == 4711)
    for _ in 0..<2 {
      let found = (0..<count).count { table.site(for: ForgedKeys.site(hash: $0)) == $0 }
      #expect(found == Int(count))
    }
    #expect(table.count == Int(count))
  }
}

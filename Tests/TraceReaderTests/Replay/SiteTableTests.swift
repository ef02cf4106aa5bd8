import Testing

@testable import TraceReader

@Suite struct SiteTableTests {
  /// As a trace may have them that was made for it: each search would go through all of them.
  @Test(.timeLimit(.minutes(1))) func sitesOfOnePlaceAreFound() {
    let count: UInt64 = 200_000
    var table = SiteTable(stackCount: 16, table: OperationTable())
    #expect(ForgedKeys.site(hash: 4711).hash(HashFactor.usual) == 4711)
    for number in 0..<count { #expect(table.site(for: ForgedKeys.site(hash: number)) == number) }
    for number in 0..<count { #expect(table.site(for: ForgedKeys.site(hash: number)) == number) }
    #expect(table.count == Int(count))
  }
}

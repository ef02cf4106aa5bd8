import Testing
import TraceReader

@testable import Reports

@Suite struct StackSharesTests {
  private func summed(_ shares: [(stack: UInt32, bytes: UInt64)]) -> [UInt64] {
    var all = StackShares()
    for share in shares { all.add(share.bytes, of: StackID(share.stack)) }
    let sums = all.summed()
    return [UInt64(sums.count), UInt64(sums.heaviest.stack.rawValue), sums.heaviest.bytes]
  }

  @Test func sitesOfAStackAreOneShareWhereverTheyStand() {
    #expect(summed([(5, 30), (5, 10), (9, 60), (5, 30), (2, 65)]) == [3, 5, 70])
  }

  @Test func theStackWithTheLeastIDIsTakenOfSeveralThatHoldTheSame() {
    #expect(summed([(9, 8), (5, 4), (7, 8), (5, 4)]) == [3, 5, 8])
  }

  @Test func aStackMayHoldNothing() {
    #expect(summed([(9, 0), (5, 0)]) == [2, 5, 0])
    #expect(summed([]) == [0, 0, 0])
  }
}

import CInterpose
import Foundation
import Testing
import TraceTestSupport

/// Where the samples are, and the set of those that live.
@Suite(.serialized) struct SamplingTests {
  init() {
    mt_sampled_set_use(false)
  }

  @Test(
    arguments: [
      (1 << 63, 693),  // half of all numbers are above: the median, 1000 ln 2
      (1 << 62, 1386),
      (.max, 0),
      (1, 44361),  // 64 octaves
      (0, 44361),
    ] as [(UInt64, UInt64)])
  func aGapIsTheLogarithmOfARandomNumber(_ random: UInt64, _ expected: UInt64) {
    #expect(mt_sampling_gap(random, 1000) == expected)
  }

  @Test func gapsAreThoseOfTheFloatingPointFormula() {
    var generator = SeededGenerator(seed: 1)
    let interval: UInt64 = 1 << 40
    for _ in 0..<10_000 {
      let random = generator.next()
      let exact = -log(Double(random) / 0x1p64) * Double(interval)
      let gap = Double(mt_sampling_gap(random, interval))
      #expect(abs(gap - exact) <= exact * 1e-6 + Double(interval) * 1e-8)
    }
  }

  @Test func theSetHoldsWhatWasInsertedAndNothingElse() {
    var generator = SeededGenerator(seed: 2)
    var oracle: Set<UInt> = []
    var order: [UInt] = []
    for _ in 0..<200_000 {
      if oracle.count < 20_000 || Bool.random(using: &generator) {
        let address = UInt(generator.next() >> 17) & ~15
        guard oracle.insert(address).inserted else { continue }
        order.append(address)
        #expect(mt_sampled_set_insert(UnsafeRawPointer(bitPattern: address)))
      } else {
        let address = order.remove(at: Int(generator.next() % UInt64(order.count)))
        oracle.remove(address)
        #expect(mt_sampled_set_remove(UnsafeRawPointer(bitPattern: address)))
        #expect(!mt_sampled_set_remove(UnsafeRawPointer(bitPattern: address)))
      }
    }
    for address in oracle {
      #expect(mt_sampled_set_may_hold(UnsafeRawPointer(bitPattern: address)))
      #expect(mt_sampled_set_holds(UnsafeRawPointer(bitPattern: address)))
      #expect(!mt_sampled_set_holds(UnsafeRawPointer(bitPattern: address + 8)))
      #expect(mt_sampled_set_remove(UnsafeRawPointer(bitPattern: address)))
      #expect(!mt_sampled_set_remove(UnsafeRawPointer(bitPattern: address)))
    }
  }

  @Test func theFilterForgetsWhatWasRemoved() {
    let block = UnsafeRawPointer(bitPattern: 0x7777_7770)
    #expect(mt_sampled_set_insert(block))
    #expect(mt_sampled_set_may_hold(block))
    #expect(mt_sampled_set_remove(block))
    #expect(!mt_sampled_set_may_hold(block))
    #expect(!mt_sampled_set_holds(block))
  }

  /// So that a program that frees next to a large block, which is in every sample, does not search
  /// the set each time.
  @Test func neighboursOfABlockAreToldFromItByTheFinerFilter() {
    let block = UnsafeRawPointer(bitPattern: 0x6666_6400)
    #expect(mt_sampled_set_insert(block))
    for distance in stride(from: 16, to: 1024, by: 16) {
      let neighbour = block.map { $0 + distance }
      #expect(mt_sampled_set_may_hold(neighbour))
      #expect(mt_sampled_set_fine_counter(neighbour)?.pointee == 0)
    }
    #expect(mt_sampled_set_fine_counter(block)?.pointee == 1)
    #expect(mt_sampled_set_remove(block))
    #expect(mt_sampled_set_fine_counter(block)?.pointee == 0)
  }

  /// 300 blocks that share a counter, which stops at 255.
  @Test func aCounterThatIsFullNeverMisses() {
    let blocks = (1...300).map { UnsafeRawPointer(bitPattern: $0 << 28 | 0x40) }
    for block in blocks { #expect(mt_sampled_set_insert(block)) }
    for block in blocks {
      #expect(mt_sampled_set_may_hold(block))
      #expect(mt_sampled_set_remove(block))
    }
    #expect(blocks.allSatisfy { !mt_sampled_set_remove($0) })
  }

  @Test func threadsDoNotLoseEachOthersBlocks() async {
    let set = BlockSetCalls(
      insert: mt_sampled_set_insert, holds: mt_sampled_set_may_hold, remove: mt_sampled_set_remove)
    let misses = await set.misses(rounds: 200, blocks: 500) { thread, round, index in
      (thread + 1) << 40 | (round * 500 + index + 1) << 5
    }
    #expect(misses == 0)
  }
}

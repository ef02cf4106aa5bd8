import CInterpose
import Testing
import TraceTestSupport

/// Stack IDs by the hashes of their paths, within a limit of memory.
@Suite(.serialized) final class StackIndexTests {
  private var random = SeededGenerator(seed: 11)

  init() { mt_stack_index_reset(false) }

  deinit {
    mt_stack_index_set_limit(4 << 20)
    mt_stack_index_reset(false)
  }

  private func add(_ hash: UInt64, _ id: UInt32) {
    #expect(mt_stack_index_make_room(id))
    mt_stack_index_add(hash, id)
  }

  @Test func whatIsThereIsFoundAndNothingElse() {
    // Grows five times on the way.
    let hashes = (0..<300_000).map { _ in random.next() | 1 }
    for (position, hash) in hashes.enumerated() {
      #expect(mt_stack_index_find(hash) == MT_STACK_NONE)
      add(hash, UInt32(position) + 2)
    }
    for (position, hash) in hashes.enumerated() {
      #expect(mt_stack_index_find(hash) == UInt32(position) + 2)
    }
    #expect(mt_stack_index_length() == 4 << 20)
    for _ in 0..<300_000 { #expect(mt_stack_index_find(random.next() | 1) == MT_STACK_NONE) }
  }

  @Test func withinItsLimitItForgetsButDoesNotErr() {
    mt_stack_index_set_limit(128 << 10)
    var ids: [UInt64: UInt32] = [:]
    var hashes: [UInt64] = []
    var next: UInt32 = 2
    var again = 0
    for _ in 0..<400_000 {
      let isKnown = !hashes.isEmpty && random.next() % 2 == 0
      let hash = isKnown ? hashes[Int(random.next() % UInt64(hashes.count))] : random.next() | 1
      let found = mt_stack_index_find(hash)
      if found != MT_STACK_NONE {
        #expect(ids[hash] == found)
        continue
      }
      if isKnown { again += 1 }
      add(hash, next)
      ids[hash] = next
      hashes.append(hash)
      next += 1
    }
    #expect(again > 0)
    #expect(mt_stack_index_length() <= max(128 << 10, mt_os_peak_bytes() / 100))
  }
}

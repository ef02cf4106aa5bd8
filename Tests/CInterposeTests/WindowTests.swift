import CInterpose
import Testing
import TraceTestSupport

/// Hashes of what is shown of deep stacks.
@Suite struct WindowTests {
  /// How many frames are shown: of the innermost and the outermost.
  struct Shown: CustomTestStringConvertible {
    var inner: Int
    var outermost: Int
    var testDescription: String { "\(inner) and \(outermost)" }
  }

  /// A thread's cached stack, whose frames are added and taken away.
  final class Recursion {
    let unwinder = UnsafeMutablePointer<mt_unwinder>.allocate(capacity: 1)
    private(set) var pcs: [UInt] = []

    init() {
      UnsafeMutableRawPointer(unwinder).initializeMemory(
        as: UInt8.self, repeating: 0, count: MemoryLayout<mt_unwinder>.size)
      unwinder.pointee.root_hash = mt_stack_root_hash(false)
    }

    deinit { unwinder.deallocate() }

    func enter(_ pc: UInt) {
      guard let offset = MemoryLayout<mt_unwinder>.offset(of: \.cache) else { return }
      let cache = (UnsafeMutableRawPointer(unwinder) + offset)
        .assumingMemoryBound(to: mt_cached_frame.self)
      let caller = pcs.isEmpty ? unwinder.pointee.root_hash : cache[pcs.count - 1].hash
      cache[pcs.count].frame.pc = pc
      cache[pcs.count].hash = mt_stack_hash(caller, UInt64(pc))
      pcs.append(pc)
      unwinder.pointee.cached = UInt32(pcs.count)
    }

    func leave(_ count: Int) {
      pcs.removeLast(count)
      unwinder.pointee.cached = UInt32(pcs.count)
    }

    func hash(_ shown: Shown, gap: UInt64) -> UInt64 {
      mt_window_hash(unwinder, UInt32(shown.inner), UInt32(shown.outermost), gap)
    }
  }

  /// Random recursions of two functions, so that what is shown comes again in other depths: its
  /// hash is the same then, and only then.
  @Test(arguments: [
    Shown(inner: 1, outermost: 0), Shown(inner: 2, outermost: 2), Shown(inner: 9, outermost: 8),
    Shown(inner: 112, outermost: 16),
  ])
  func theHashTellsWhatIsShown(shown: Shown) {
    var random = SeededGenerator(seed: UInt64(shown.inner))
    let recursion = Recursion()
    var hashes: [[UInt]: UInt64] = [:], repeated = 0, wrong: [Int] = []
    let depth = shown.inner + shown.outermost
    for event in 0..<20_000 {
      let spare = recursion.pcs.count - depth - 1
      if spare > 300 || (spare > 0 && Bool.random(using: &random)) {
        recursion.leave(.random(in: 0...min(spare, 200), using: &random))
      }
      let isSteady = Int.random(in: 0..<4, using: &random) > 0
      for _ in 0..<Int.random(in: 0..<20, using: &random) + max(0, -spare) {
        recursion.enter(isSteady ? 0x1000 : .random(in: 1...2, using: &random) * 0x1000)
      }
      let gap = mt_stack_gap(UInt64(recursion.pcs.count - depth))
      let seen =
        recursion.pcs.prefix(shown.outermost) + [UInt(gap)] + recursion.pcs.suffix(shown.inner)
      let hash = recursion.hash(shown, gap: gap)
      if let before = hashes.updateValue(hash, forKey: Array(seen)) {
        repeated += 1
        if before != hash { wrong.append(event) }
      }
    }
    #expect(wrong == [])
    #expect(Set(hashes.values).count == hashes.count)
    #expect(repeated > 100)
    #expect(hashes.count > 10)
  }
}

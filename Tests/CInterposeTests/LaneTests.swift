import CInterpose
import Testing

/// Who holds the lane, and who may take it from a call that a handler jumped out of.
@Suite struct LaneTests {
  /// A stack of this size, with the unwinder of the thread that runs on it.
  private final class Stack {
    let words = UnsafeMutablePointer<UInt>.allocate(capacity: 64)
    let unwinder = UnsafeMutablePointer<mt_unwinder>.allocate(capacity: 1)

    init() {
      words.initialize(repeating: 7, count: 64)
      UnsafeMutableRawPointer(unwinder).initializeMemory(
        as: UInt8.self, repeating: 0, count: MemoryLayout<mt_unwinder>.size)
      unwinder.pointee.own_stack = mt_address_range(low: pointer(0), high: pointer(64))
    }

    deinit {
      words.deallocate()
      unwinder.deallocate()
    }

    func pointer(_ word: Int) -> UInt { UInt(bitPattern: words + word) }
  }

  private let stack = Stack(), other = Stack()
  private let lane: UnsafeMutablePointer<mt_lane> = {
    let lane = UnsafeMutablePointer<mt_lane>.allocate(capacity: 1)
    lane.initialize(to: mt_lane())
    return lane
  }()

  @Test func oneCallHoldsIt() {
    defer { lane.deallocate() }
    #expect(mt_lane_take(lane, stack.pointer(30), stack.unwinder))
    // A handler that interrupted it, and another thread.
    #expect(!mt_lane_take(lane, stack.pointer(20), stack.unwinder))
    #expect(!mt_lane_take(lane, other.pointer(40), other.unwinder))
    #expect(!mt_lane_take(lane, stack.pointer(40), nil))
    mt_lane_give_back(lane)
    #expect(mt_lane_take(lane, other.pointer(40), other.unwinder))
  }

  @Test func aLaterCallOfTheThreadTakesItFromOneThatWasLeft() {
    defer { lane.deallocate() }
    #expect(mt_lane_take(lane, stack.pointer(30), stack.unwinder))
    #expect(mt_lane_take(lane, stack.pointer(31), stack.unwinder))
    #expect(lane.pointee.holder.sp == stack.pointer(31))
  }

  #if arch(x86_64)
    @Test func soDoesACallWhoseFramesOverwroteIt() {
      defer { lane.deallocate() }
      #expect(mt_lane_take(lane, stack.pointer(30), stack.unwinder))
      #expect(!mt_lane_take(lane, stack.pointer(20), stack.unwinder))
      stack.words[29] = 8
      #expect(mt_lane_take(lane, stack.pointer(20), stack.unwinder))
      #expect(lane.pointee.holder.sp == stack.pointer(20))
    }
  #endif
}

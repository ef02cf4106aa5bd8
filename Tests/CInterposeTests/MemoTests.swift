#if arch(x86_64)
  import CInterpose
  import Testing

  /// Memos of whole stacks: who gets one, and at whose expense.
  @Suite struct MemoTests {
    /// A stack made by hand, with an unwinder that has just walked it.
    final class Stack {
      let unwinder = UnsafeMutablePointer<mt_unwinder>.allocate(capacity: 1)
      private let words = UnsafeMutablePointer<UInt>.allocate(capacity: 4096)
      private let base: UInt
      /// Where the walk began, always the same.
      private(set) var leaf: mt_frame

      init() {
        base = UInt(bitPattern: words)
        leaf = mt_frame(pc: 0x1000, sp: base + 64, fp: 0)
        UnsafeMutableRawPointer(unwinder).initializeMemory(
          as: UInt8.self, repeating: 0, count: MemoryLayout<mt_unwinder>.size)
        words.initialize(repeating: 0, count: 4096)
        unwinder.pointee.own_stack = mt_address_range(low: base, high: base + 4096 * 8)
        unwinder.pointee.memos.epoch = 1
      }

      deinit {
        unwinder.deallocate()
        words.deallocate()
      }

      /// Puts `frames` frames into the cache, and their words where a walk would have read them.
      func walk(frames: Int, haveFramePointers: Bool) {
        guard let offset = MemoryLayout<mt_unwinder>.offset(of: \.cache) else { return }
        let cache = (UnsafeMutableRawPointer(unwinder) + offset)
          .assumingMemoryBound(to: mt_cached_frame.self)
        for index in 0..<frames {
          // Root first, the root highest; the leaf's frame is the last.
          let place = 16 + (frames - index) * 4
          var frame = mt_cached_frame()
          frame.frame = mt_frame(
            pc: 0x2000 + UInt(index), sp: base + UInt(place * 8), fp: 0x3000 + UInt(index))
          words[place - 1] = frame.frame.pc
          if haveFramePointers {
            frame.fp_slot = base + UInt((place - 2) * 8)
            frame.use = MT_FP_CHECKED.rawValue
            words[place - 2] = frame.frame.fp
          }
          cache[index] = frame
        }
        unwinder.pointee.cached = UInt32(frames)
      }

      @discardableResult func remember(_ id: UInt32) -> Bool {
        mt_memo_remember(unwinder, &leaf, id)
      }

      func recall() -> UInt32 {
        mt_memo_recall(&unwinder.pointee.memos, &leaf)
      }
    }

    @Test(arguments: [(3, false), (3, true), (49, true), (97, false)])
    func aStackThatComesBackIsKnown(frames: Int, haveFramePointers: Bool) {
      let stack = Stack()
      stack.walk(frames: frames, haveFramePointers: haveFramePointers)
      #expect(stack.recall() == 0)
      #expect(stack.remember(5))
      #expect(stack.recall() == 5)
    }

    /// One that has more words than a memo takes nobody's place, however often it is met.
    @Test(arguments: [(50, true), (97, true), (98, false), (500, true)])
    func aStackThatDoesNotFitDisplacesNone(frames: Int, haveFramePointers: Bool) {
      let stack = Stack()
      for id: UInt32 in [5, 6] {
        stack.walk(frames: Int(id), haveFramePointers: false)
        #expect(stack.remember(id))
      }
      for _ in 0..<10 {
        stack.walk(frames: frames, haveFramePointers: haveFramePointers)
        #expect(!stack.remember(9))
      }
      // A smaller one again, whose words are there.
      stack.walk(frames: 5, haveFramePointers: false)
      #expect(stack.recall() == 5)
      stack.walk(frames: 6, haveFramePointers: false)
      #expect(stack.recall() == 6)
    }
  }
#endif

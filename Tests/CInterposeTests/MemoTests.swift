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
      /// Where the walk began.
      var leaf: mt_frame

      init() {
        base = UInt(bitPattern: words)
        leaf = mt_frame(pc: 0x1000, sp: base + 64, fp: 0)
        UnsafeMutableRawPointer(unwinder).initializeMemory(
          as: UInt8.self, repeating: 0, count: MemoryLayout<mt_unwinder>.size)
        words.initialize(repeating: 0, count: 4096)
        unwinder.pointee.own_stack = mt_address_range(low: base, high: base + 4096 * 8)
        unwinder.pointee.memos.epoch = 1
        mt_memo_begin_generation(&unwinder.pointee.memos, 1)
      }

      deinit {
        unwinder.deallocate()
        words.deallocate()
      }

      /// Puts `frames` frames into the cache, and their words where a walk would have read them.
      func walk(frames: Int, haveFramePointers: Bool) {
        guard let offset = MemoryLayout<mt_unwinder>.offset(of: \.cache),
          let checks = mt_checks(unwinder)
        else { return }
        let cache = (UnsafeMutableRawPointer(unwinder) + offset)
          .assumingMemoryBound(to: mt_cached_frame.self)
        var count = 0
        for index in 0..<frames {
          // Root first, the root highest; the leaf's frame is the last.
          let place = 16 + (frames - index) * 4
          var frame = mt_cached_frame()
          frame.frame = mt_frame(
            pc: 0x2000 + UInt(index), sp: base + UInt(place * 8), fp: 0x3000 + UInt(index))
          words[place - 1] = frame.frame.pc
          frame.first_check = UInt16(count)
          checks[count] = mt_check(address: frame.frame.sp - 8, value: frame.frame.pc)
          count += 1
          if haveFramePointers {
            frame.fp_slot = base + UInt((place - 2) * 8)
            frame.use = UInt16(MT_FP_CHECKED.rawValue)
            words[place - 2] = frame.frame.fp
            checks[count] = mt_check(address: frame.fp_slot, value: frame.frame.fp)
            count += 1
          }
          cache[index] = frame
        }
        unwinder.pointee.cached = UInt32(frames)
      }

      @discardableResult func remember(_ id: UInt32) -> Bool {
        mt_memo_remember(unwinder, &leaf, id)
      }

      /// Where the words are that the walk of so many frames has read.
      static func places(frames: Int, haveFramePointers: Bool) -> [Int] {
        (0..<frames - 1).flatMap { index in
          let place = 16 + (frames - index) * 4
          return haveFramePointers ? [place - 1, place - 2] : [place - 1]
        }
      }

      /// What is recalled while words have some bits changed.
      func recall(changing places: Set<Int>, by bits: UInt) -> UInt32 {
        for place in places { words[place] ^= bits }
        defer { for place in places { words[place] ^= bits } }
        return recall()
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

    /// Any bit of any word, and the same bit of any two, which a sum or a parity would miss.
    @Test(arguments: [(2, false), (5, false), (6, true), (49, true)])
    func aWordThatHasChangedIsSeen(frames: Int, haveFramePointers: Bool) {
      let stack = Stack()
      stack.walk(frames: frames, haveFramePointers: haveFramePointers)
      #expect(stack.remember(5))
      let places = Stack.places(frames: frames, haveFramePointers: haveFramePointers)
      var missed: [String] = []
      for bit in 0..<UInt.bitWidth {
        for (index, place) in places.enumerated() {
          for other in places[index...]
          where stack.recall(changing: [place, other], by: 1 << bit) != 0 {
            missed.append("bit \(bit) of \(place) and \(other)")
          }
        }
      }
      #expect(missed == [])
      #expect(stack.recall() == 5)
    }

    /// Two return addresses that have changed places.
    @Test func theOrderOfWordsIsSeen() {
      let stack = Stack()
      stack.walk(frames: 20, haveFramePointers: false)
      #expect(stack.remember(5))
      let places = Stack.places(frames: 20, haveFramePointers: false)
      for index in places.indices {
        for other in 0..<index {
          // The return address of frame n is 0x2000 + n.
          let difference = UInt(0x2000 + index) ^ UInt(0x2000 + other)
          #expect(stack.recall(changing: [places[index], places[other]], by: difference) == 0)
        }
      }
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

    /// Makes memos of so many leaves, as far as they have none.
    private func remember(leaves: Range<UInt>, of stack: Stack) {
      for pc in leaves {
        stack.leaf.pc = pc << 4
        stack.walk(frames: 3, haveFramePointers: false)
        if stack.recall() == 0 { stack.remember(UInt32(pc)) }
      }
    }

    private func countKnown(leaves: Range<UInt>, of stack: Stack) -> Int {
      leaves.count { pc in
        stack.leaf.pc = pc << 4
        return stack.recall() == UInt32(pc)
      }
    }

    /// As many words as memos, side by side, however often they are met; and two of the time when
    /// there was one set.
    @Test(arguments: [1, 10, 30]) func fewMemosTakeLittleRoom(count: UInt) {
      let stack = Stack()
      for _ in 0..<4 { remember(leaves: 1..<count + 1, of: stack) }
      #expect(stack.unwinder.pointee.memos.taken <= count + 2)
      #expect(countKnown(leaves: 1..<count + 1, of: stack) >= Int(count) * 3 / 4)
      #expect(stack.unwinder.pointee.memos.used.mask < UInt32(MT_MEMO_SETS_FIRST))
    }

    /// Memos that displace each other get all of the sets, and no words beyond the last.
    @Test func manyMemosGetAllOfTheRoom() {
      let stack = Stack()
      for _ in 0..<8 { remember(leaves: 1..<401, of: stack) }
      #expect(stack.unwinder.pointee.memos.used.mask == UInt32(MT_MEMO_SETS) - 1)
      #expect(countKnown(leaves: 1..<401, of: stack) > 200)
      for _ in 0..<4 { remember(leaves: 1..<5001, of: stack) }
      #expect(stack.unwinder.pointee.memos.taken == UInt32(MT_MEMOS))
    }

    /// As after handlers that have jumped out while room was taken.
    @Test func aMemoWithoutRoomForItsWordsIsNone() {
      let stack = Stack()
      stack.unwinder.pointee.memos.taken = UInt32(MT_MEMOS)
      stack.walk(frames: 3, haveFramePointers: false)
      #expect(stack.remember(5))
      #expect(stack.recall() == 0)
      #expect(stack.unwinder.pointee.memos.taken == UInt32(MT_MEMOS))
    }

    /// Of so many stacks that were walked in a term, so many others had a memo.
    @Test(arguments: [(0, true), (8191, true), (8192, false), (100_000, false)])
    func memosRestWhereTheyHelpLittle(hits: UInt32, rests: Bool) {
      let stack = Stack()
      stack.unwinder.pointee.memos.hits = hits
      for walks in 1...UInt32(MT_MEMO_TERM) {
        #expect(stack.unwinder.pointee.memos.rest == 0)
        #expect(stack.unwinder.pointee.memos.walks == walks - 1)
        mt_memo_note_walk(&stack.unwinder.pointee.memos, 1)
      }
      #expect((stack.unwinder.pointee.memos.rest > 0) == rests)
      #expect(stack.unwinder.pointee.memos.asked_in == (rests ? 0 : 1))
    }

    @Test func memosAreTriedAgain() {
      let stack = Stack()
      let terms = UInt32(MT_MEMO_TERM) * UInt32(MT_MEMO_REST)
      for _ in 0..<MT_MEMO_TERM { mt_memo_note_walk(&stack.unwinder.pointee.memos, 1) }
      // Other images do not wake them.
      mt_memo_begin_generation(&stack.unwinder.pointee.memos, 2)
      for _ in 0..<terms {
        #expect(stack.unwinder.pointee.memos.rest > 0)
        #expect(stack.unwinder.pointee.memos.asked_in == 0)
        mt_memo_note_walk(&stack.unwinder.pointee.memos, 2)
      }
      #expect(stack.unwinder.pointee.memos.rest == 0)
      #expect(stack.unwinder.pointee.memos.asked_in == 2)
    }
  }
#endif

#if arch(x86_64)
  import CInterpose
  import Testing
  import TraceTestSupport

  /// Both walks, over the same stacks: the one that most stacks need, and the one for all.
  ///
  /// They share the recorder's table of rules, so that they run one after the other.
  @Suite(.serialized) struct WalkTests {
    /// What a thread knows of its stack.
    final class Unwinder {
      let pointer = UnsafeMutablePointer<mt_unwinder>.allocate(capacity: 1)

      init(of stack: MadeUpStack) {
        UnsafeMutableRawPointer(pointer).initializeMemory(
          as: UInt8.self, repeating: 0, count: MemoryLayout<mt_unwinder>.size)
        pointer.pointee.own_stack = stack.range
        pointer.pointee.root_hash = mt_stack_root_hash(false)
      }

      deinit { pointer.deallocate() }

      var cached: [mt_cached_frame] {
        guard let offset = MemoryLayout<mt_unwinder>.offset(of: \.cache) else { return [] }
        let cache = (UnsafeMutableRawPointer(pointer) + offset)
          .assumingMemoryBound(to: mt_cached_frame.self)
        return (0..<Int(pointer.pointee.cached)).map { cache[$0] }
      }

      var checks: [mt_check] {
        guard let checks = mt_checks(pointer), var last = cached.last else { return [] }
        return (0..<Int(mt_end_of_checks(&last))).map { checks[$0] }
      }

      /// The return address of each frame, its frame pointer where that was read and matters, and
      /// the end of its frame where its callee has that in a word.
      var checksItsFrames: Bool {
        let cached = cached
        let expected = cached.indices.flatMap { index -> [(UInt, UInt)] in
          let frame = cached[index], callee = cached[index...].dropFirst().first
          let isPointerChecked = UInt32(frame.use) & MT_FP_CHECKED.rawValue != 0
          let keepsEnd = UInt32(callee?.use ?? 0) & MT_READS_CFA.rawValue != 0
          return [(frame.frame.sp - 8, frame.frame.pc)]
            + (isPointerChecked ? [(frame.fp_slot, frame.frame.fp)] : [])
            + (keepsEnd ? [((callee?.frame.fp ?? 0) - 8, frame.frame.sp)] : [])
        }
        return checks.elementsEqual(expected) { $0.address == $1.0 && $0.value == $1.1 }
      }

      /// Where walks put the new frame that is the 65th from the leaf.
      var newFrame: UnsafeMutablePointer<mt_cached_frame>? {
        MemoryLayout<mt_unwinder>.offset(of: \.fresh).map {
          (UnsafeMutableRawPointer(pointer) + $0)
            .assumingMemoryBound(to: mt_cached_frame.self) + 64
        }
      }

      func walk(from leaf: mt_frame) -> Bool {
        var known: UInt32 = 0
        return mt_unwind_walk(pointer, leaf, &known) == MT_WALK_CACHED
      }

      /// Whether the shorter walk was enough.
      func walkShortly(from leaf: mt_frame) -> Bool {
        var leaf = leaf
        return mt_unwind_walk_shortly(pointer, &leaf)
      }
    }

    static let events = 1500

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func bothWalksFindTheStack(seed: UInt64) {
      var stack = MadeUpStack(seed: seed)
      defer { stack.memory.deallocate() }
      let long = Unwinder(of: stack), short = Unwinder(of: stack)
      var enough = 0, wrong: [Int] = []
      for event in 0..<Self.events {
        stack.run(maximumDepth: 100)
        let leaf = stack.leaf(), expected = stack.returnAddresses
        let isLongRight =
          long.walk(from: leaf) && long.cached.reversed().map(\.frame.pc) == expected
        if short.walkShortly(from: leaf) {
          enough += 1
        } else if !short.walk(from: leaf) {
          wrong.append(event)
        }
        let isShortRight = short.cached.reversed().map(\.frame.pc) == expected
        if !isLongRight || !isShortRight || !Self.areAlike(long, short) { wrong.append(event) }
      }
      #expect(wrong == [])
      #expect(enough > Self.events / 2)
      #expect(enough < Self.events)
    }

    /// What later walks, memos and stack IDs rest on.
    static func areAlike(_ one: Unwinder, _ other: Unwinder) -> Bool {
      one.cached.elementsEqual(other.cached) {
        $0.frame.sp == $1.frame.sp && $0.hash == $1.hash && $0.use == $1.use
          && $0.fp_slot == $1.fp_slot
          && ($0.frame.fp == $1.frame.fp || UInt32($0.use) & MT_FP_MATTERS.rawValue == 0)
      } && one.checksItsFrames && other.checksItsFrames
    }

    /// Of more frames than are cached, the outermost and the innermost stay.
    ///
    /// Whatever changes below them, no later event walks the dropped ones again.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func deepStacksAreFound(seed: UInt64) throws {
      var stack = MadeUpStack(seed: seed), wrong: [Int] = [], long: [Int] = []
      defer { stack.memory.deallocate() }
      let unwinder = Unwinder(of: stack), newFrame = try #require(unwinder.newFrame)
      while stack.frames.count < 2300 { stack.run(maximumDepth: 2400) }
      for event in 0..<Self.events / 5 {
        stack.run(maximumDepth: 2400)
        newFrame.pointee.frame.pc = 0
        let isFound = unwinder.walk(from: stack.leaf())
        if newFrame.pointee.frame.pc != 0 { long.append(event) }
        let found = unwinder.cached.map(\.frame.pc), expected = stack.frames.map(\.pc)
        if !isFound || found.prefix(16) != expected.prefix(16)
          || found.suffix(100) != expected.suffix(100)
          || UInt64(found.count) + unwinder.pointer.pointee.dropped != UInt64(expected.count)
        {
          wrong.append(event)
        }
      }
      #expect(wrong == [])
      #expect(long == [0])
      #expect(unwinder.pointer.pointee.dropped > 0)
    }

    /// Where the shorter one is not enough, nothing has changed.
    @Test func aChangedReturnAddressIsLeftToTheLongerWalk() throws {
      var stack = MadeUpStack(seed: 99)
      defer { stack.memory.deallocate() }
      while stack.frames.count < 30 { stack.run(maximumDepth: 100) }
      let unwinder = Unwinder(of: stack), leaf = stack.leaf()
      #expect(!unwinder.walkShortly(from: leaf))
      #expect(unwinder.walk(from: leaf))
      #expect(unwinder.walkShortly(from: leaf))
      let ofCallers = Int(unwinder.cached.last?.first_check ?? 0)
      #expect(ofCallers >= 29)
      for check in unwinder.checks.prefix(ofCallers) {
        let word = try #require(UnsafeMutablePointer<UInt>(bitPattern: check.address))
        word.pointee ^= 1 << 40
        #expect(!unwinder.walkShortly(from: leaf), "\(check.address)")
        word.pointee ^= 1 << 40
        #expect(unwinder.walkShortly(from: leaf))
      }
    }
  }
#endif

import CInterpose
import Synchronization
import Testing

/// What was seen of blocks while nobody could note it.
@Suite(.serialized) struct TypeBacklogTests {
  private static let taken = Mutex<[UInt32]>([])
  private static let finished = Atomic(0)

  private static func sighting(stack: UInt32) -> mt_type_sighting {
    mt_type_sighting(
      block: mt_type_block(word: 8 * UInt64(stack), content: 0, size: 16), stack: stack,
      evidence: MT_TYPE_FREED, free_stack: 0)
  }

  /// The stacks of the sightings that are taken now.
  private static func take(images: UInt64 = 1) -> [UInt32] {
    mt_type_backlog_take(
      { sighting in
        guard let stack = sighting?.pointee.stack, sighting?.pointee.block.word == 8 * UInt64(stack)
        else { return }
        TypeBacklogTests.taken.withLock { $0.append(stack) }
      }, images)
    return taken.withLock { taken in
      defer { taken = [] }
      return taken.sorted()
    }
  }

  @discardableResult
  private static func leave(stack: UInt32, images: UInt64 = 1) -> Bool {
    withUnsafePointer(to: sighting(stack: stack)) { mt_type_backlog_leave($0, images) }
  }

  @Test func whatIsLeftIsTakenOnce() {
    #expect(!mt_type_backlog_has_any())
    #expect(Self.leave(stack: 5))
    #expect(Self.leave(stack: 7))
    #expect(mt_type_backlog_has_any())
    #expect(Self.take() == [5, 7])
    #expect(!mt_type_backlog_has_any())
    #expect(Self.take() == [])
  }

  /// One sighting of a stack is enough, and a stack that shares its place has its turn later.
  @Test func aPlaceHoldsOneSighting() {
    #expect(Self.leave(stack: 5))
    #expect(!Self.leave(stack: 5))
    #expect(!Self.leave(stack: 5 + 64))
    #expect(Self.take() == [5])
    #expect(Self.leave(stack: 5 + 64))
    #expect(Self.take() == [5 + 64])
  }

  @Test func whatIsOlderThanAnUnloadIsDropped() {
    Self.leave(stack: 5, images: 1)
    Self.leave(stack: 6, images: 2)
    #expect(Self.take(images: 2) == [6])
    #expect(Self.take(images: 1) == [])
  }

  @Test func aForkedChildBeginsWithNone() {
    for stack in UInt32(0)..<64 { Self.leave(stack: stack) }
    mt_type_backlog_reset()
    #expect(!mt_type_backlog_has_any())
    #expect(Self.take() == [])
  }

  /// Each of four threads leaves a thousand, in places that only it uses, while another one takes.
  @Test func nothingIsLostBetweenThreads() async {
    let stacks = (UInt32(0)..<4).map { thread in (0..<1000).map { thread * 16 + $0 % 16 } }
    let found = await withTaskGroup(of: Void.self, returning: [UInt32].self) { group in
      for ofOne in stacks {
        group.addTask {
          for stack in ofOne { while !Self.leave(stack: stack) { await Task.yield() } }
          Self.finished.add(1, ordering: .sequentiallyConsistent)
        }
      }
      var found: [UInt32] = []
      while Self.finished.load(ordering: .sequentiallyConsistent) < stacks.count {
        found += Self.take()
        await Task.yield()
      }
      return found + Self.take()
    }
    #expect(found.sorted() == stacks.joined().sorted())
  }
}

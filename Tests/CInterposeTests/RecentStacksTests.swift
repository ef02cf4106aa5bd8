import CInterpose
import Testing

/// The stacks a thread met lately.
@Suite struct RecentStacksTests {
  /// A table with nothing in it.
  private static func withTable(_ body: (UnsafeMutablePointer<mt_recent_stacks>) -> Void) {
    let table = UnsafeMutablePointer<mt_recent_stacks>.allocate(capacity: 1)
    UnsafeMutableRawPointer(table).initializeMemory(
      as: UInt8.self, repeating: 0, count: MemoryLayout<mt_recent_stacks>.size)
    body(table)
    table.deallocate()
  }

  private static func id(
    of hash: UInt64, in table: UnsafeMutablePointer<mt_recent_stacks>
  ) -> UInt32? {
    guard let stack = mt_recent_stack_at(table, hash), stack.pointee.hash == hash else {
      return nil
    }
    return stack.pointee.id
  }

  @Test func anEmptyTableHasNone() {
    Self.withTable { table in
      #expect(Self.id(of: 1 << 60 | 1, in: table) == nil)
    }
  }

  /// Hashes that differ in what they have in common with no place at all are told apart.
  @Test func theLastStackOfAPlaceIsTheOneThatIsKnown() {
    Self.withTable { table in
      let (first, second): (UInt64, UInt64) = (7 << 60 | 1, 7 << 60 | 3)
      mt_recent_stack_note(table, first, 5)
      #expect(Self.id(of: first, in: table) == 5)
      #expect(Self.id(of: second, in: table) == nil)
      mt_recent_stack_at(table, first).pointee.has_no_memo = true
      mt_recent_stack_note(table, second, 6)
      #expect(Self.id(of: first, in: table) == nil)
      #expect(Self.id(of: second, in: table) == 6)
      #expect(!mt_recent_stack_at(table, second).pointee.has_no_memo)
    }
  }

  @Test func whatIsForgottenIsNotFound() {
    Self.withTable { table in
      let hashes = (0..<1 << 12).map { UInt64($0) << 52 | 1 }
      for (position, hash) in hashes.enumerated() {
        mt_recent_stack_note(table, hash, UInt32(position) + 2)
      }
      #expect(hashes.enumerated().allSatisfy { Self.id(of: $1, in: table) == UInt32($0) + 2 })
      mt_recent_stacks_forget(table)
      #expect(hashes.allSatisfy { Self.id(of: $0, in: table) == nil })
    }
  }
}

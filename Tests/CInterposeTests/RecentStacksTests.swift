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

  /// The hashes of so many stacks.
  private static func hashes(_ count: Int) -> [UInt64] {
    (1...UInt64(count)).map { $0 &* 0x9e37_79b9_7f4a_7c15 }
  }

  /// Those that are not known.
  private static func note(_ hashes: [UInt64], in table: UnsafeMutablePointer<mt_recent_stacks>) {
    for (position, hash) in hashes.enumerated() where id(of: hash, in: table) == nil {
      mt_recent_stack_note(table, hash, UInt32(position) + 2)
    }
  }

  /// A thread that has met few stacks has touched a page of the table, beside its head.
  @Test(arguments: [1, 2, 20, 40]) func fewStacksTakeLittleRoom(count: Int) {
    Self.withTable { table in
      let hashes = Self.hashes(count)
      for _ in 0..<3 { Self.note(hashes, in: table) }
      let known = hashes.filter { Self.id(of: $0, in: table) != nil }.count
      #expect(known > count * 3 / 4)
      let bytes = UnsafeRawBufferPointer(start: table, count: MemoryLayout<mt_recent_stacks>.size)
      #expect(bytes.dropFirst(4096 + 16).allSatisfy { $0 == 0 })
    }
  }

  /// The table grows with what is displaced, and then forgets little.
  @Test func manyStacksGetAllOfTheRoom() {
    Self.withTable { table in
      let hashes = Self.hashes(2000)
      for _ in 0..<4 { Self.note(hashes, in: table) }
      #expect(table.pointee.places.mask == UInt32(MT_RECENT_STACKS) - 1)
      #expect(hashes.filter { Self.id(of: $0, in: table) != nil }.count > 1500)
    }
  }

  @Test func whatIsForgottenIsNotFound() {
    Self.withTable { table in
      let hashes = (0..<1 << 12).map { UInt64($0) << 52 | 1 }
      // The first time, the table grows and forgets some.
      for _ in 0..<2 { Self.note(hashes, in: table) }
      #expect(hashes.enumerated().allSatisfy { Self.id(of: $1, in: table) == UInt32($0) + 2 })
      mt_recent_stacks_forget(table)
      #expect(hashes.allSatisfy { Self.id(of: $0, in: table) == nil })
    }
  }
}

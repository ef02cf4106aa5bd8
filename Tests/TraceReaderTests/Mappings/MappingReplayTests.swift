import Testing
import TraceTestSupport

@testable import TraceReader

/// What comes of calls that map memory and unmap it.
@Suite struct MappingReplayTests {
  private static let pages = MappingCalls.pages
  private static let page = MappingCalls.page

  private func history(
    until end: EventTime = .distantFuture, _ make: (inout MappingCalls) -> Void
  ) -> MappingHistory {
    var calls = MappingCalls()
    make(&calls)
    return MappingReplay(calls.all, until: end).history
  }

  @Test func whatIsUnmappedIsGone() {
    let history = history { calls in
      calls.map(Self.pages(10, 4), stack: 7)
      calls.map(Self.pages(20, 2))
      calls.unmap(Self.pages(10, 4), stack: 8)
    }
    #expect(history.mappings.map(\.liveBytes) == [0, 2 * Self.page])
    #expect(history.mappings[0].began == EventTime(5))
    #expect(history.mappings[0].ended == EventTime(20))
    #expect(history.mappings[0].stack == StackID(7))
    #expect(history.mappings[0].endStack == StackID(8))
    #expect(history.mappings[1].ended == nil)
    #expect(history.liveBytes == 2 * Self.page)
    #expect(history.peakBytes == 6 * Self.page)
    #expect(history.peakTime == EventTime(15))
    #expect(history.foreignBytes == 0)
  }

  @Test func aPartThatIsUnmappedLeavesTheRest() {
    let history = history { calls in
      calls.map(Self.pages(10, 10))
      calls.unmap(Self.pages(12, 3))
      calls.unmap(Self.pages(19, 5))
    }
    #expect(history.mappings.map(\.liveBytes) == [6 * Self.page])
    #expect(history.mappings[0].ended == nil)
    #expect(history.foreignBytes == 4 * Self.page)
  }

  @Test func oneCallCanUnmapSeveral() {
    let history = history { calls in
      calls.map(Self.pages(10, 2))
      calls.map(Self.pages(12, 2))
      calls.map(Self.pages(14, 2))
      calls.unmap(Self.pages(11, 4))
    }
    #expect(history.mappings.map(\.liveBytes) == [Self.page, 0, Self.page])
  }

  @Test func whatIsMappedOverAnotherTakesItsPlace() {
    let history = history { calls in
      calls.map(Self.pages(10, 8), protection: 0)
      calls.map(Self.pages(12, 2))
      calls.map(Self.pages(12, 2), path: "/lib/a.so")
    }
    #expect(history.mappings.map(\.liveBytes) == [6 * Self.page, 0, 2 * Self.page])
    #expect(history.mappings.map(\.reservedBytes) == [6 * Self.page, 0, 0])
    #expect(history.liveBytes == 8 * Self.page)
    #expect(history.peakBytes == 2 * Self.page)
  }

  @Test func reservedAddressesComeIntoUseByMprotect() {
    let history = history { calls in
      calls.map(Self.pages(0, 100), protection: 0)
      calls.protect(Self.pages(0, 10), 3)
      calls.protect(Self.pages(5, 15), 3)
      calls.protect(Self.pages(0, 5), 0)
    }
    #expect(history.mappings.map(\.kind) == [.anonymous])
    #expect(history.mappings.map(\.liveBytes) == [100 * Self.page])
    #expect(history.mappings.map(\.reservedBytes) == [85 * Self.page])
    #expect(history.peakBytes == 20 * Self.page)
  }

  @Test func unmappedReservedAddressesAreNoMoreReserved() {
    let history = history { calls in
      calls.map(Self.pages(0, 100), protection: 0)
      calls.unmap(Self.pages(50, 50))
    }
    #expect(history.mappings.map(\.kind) == [.reserved])
    #expect(history.mappings.map(\.reservedBytes) == [50 * Self.page])
    #expect(history.peakBytes == 0)
  }

  @Test func mremapMakesANewMappingLikeTheOld() {
    let history = history { calls in
      calls.map(Self.pages(10, 2), flags: 1, path: "/data", offset: 4096)
      calls.remap(Self.pages(10, 2), to: Self.pages(40, 6))
    }
    #expect(history.mappings.map(\.liveBytes) == [0, 6 * Self.page])
    let moved = history.mappings[1]
    #expect(moved.function == .mremap)
    #expect(moved.kind == .file && moved.isShared && moved.path == "/data")
    #expect(moved.offset == 4096 && moved.protection == 3)
  }

  @Test func mremapInPlaceGrowsAndShrinks() {
    let history = history { calls in
      calls.map(Self.pages(10, 2), protection: 0)
      calls.remap(Self.pages(10, 2), to: Self.pages(10, 5))
      calls.remap(Self.pages(10, 5), to: Self.pages(10, 1))
    }
    #expect(history.mappings.map(\.liveBytes) == [0, 0, Self.page])
    #expect(history.mappings.map(\.reservedBytes) == [0, 0, Self.page])
    #expect(history.peakBytes == 0)
  }

  /// With MREMAP_DONTUNMAP, or an old length of 0, the old addresses stay.
  @Test func mremapCanLeaveTheOld() {
    let history = history { calls in
      calls.map(Self.pages(10, 2), flags: 0x21)
      calls.remap(Self.pages(10, 0), to: Self.pages(20, 2), flags: 1)
    }
    #expect(history.mappings.map(\.liveBytes) == [2 * Self.page, 2 * Self.page])
    #expect(history.mappings.map(\.kind) == [.shared, .shared])
  }

  @Test func theProgramBreakMovesBothWays() {
    let history = history { calls in
      calls.moveBreak(from: 1000, to: 9000)
      calls.moveBreak(from: 9000, to: 12000)
      calls.moveBreak(from: 12000, to: 8000)
    }
    #expect(history.mappings.map(\.kind) == [.programBreak, .programBreak])
    #expect(history.mappings.map(\.liveBytes) == [7000, 0])
  }

  /// The records are in the order in which the threads came to write them.
  @Test func threadsThatHaveTheSameAddressesAreInOrder() {
    var calls = MappingCalls()
    calls.map(Self.pages(10, 2))
    calls.add(
      MappingCall(
        .mmap, endTime: EventTime(12), time: EventTime(40), begun: Self.pages(10, 2),
        protection: 3, flags: MappingCalls.privateAnonymous))
    calls.add(
      MappingCall(
        .munmap, endTime: EventTime(20), time: EventTime(50), ended: Self.pages(10, 2)))
    let history = MappingReplay(calls.all, until: .distantFuture).history
    #expect(history.mappings.map(\.liveBytes) == [0, 2 * Self.page])
    #expect(history.mappings[0].ended == EventTime(20))
  }

  @Test func theStateIsThatOfTheMoment() {
    func live(at time: UInt64) -> UInt64 {
      history(until: EventTime(time)) { calls in
        calls.map(Self.pages(10, 4))
        calls.unmap(Self.pages(10, 4))
      }.liveBytes
    }
    #expect([4, 5, 9, 10].map { live(at: $0) } == [0, 4 * Self.page, 4 * Self.page, 0])
  }

  @Test(arguments: [
    (rounds: 200, calls: 30, pages: 40, most: 5), (rounds: 2, calls: 6000, pages: 8000, most: 5),
    (rounds: 4, calls: 2000, pages: 8000, most: 1500),
  ]) func rangesAreWhatTheyWouldBeByteByByte(
    rounds: Int, numberOfCalls: Int, pages: Int, most: Int
  ) {
    var random = SeededGenerator(seed: 20)
    for _ in 0..<rounds {
      var calls = MappingCalls()
      var owner = [Int?](repeating: nil, count: pages)
      var reserved = [Bool](repeating: false, count: pages)
      var mappings = 0
      for call in 0..<numberOfCalls {
        let first = Int.random(in: 0..<pages - most, using: &random)
        // Most of the time few, so that there are many for those that take many.
        let isLarge = numberOfCalls < 100 || call % 500 > 480
        let count = Int.random(in: 1...(isLarge ? most : 2), using: &random)
        let range = Self.pages(UInt64(first), UInt64(count))
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          calls.unmap(range)
          for page in first..<first + count { owner[page] = nil }
        case 1:
          let isReserved = Bool.random(using: &random)
          calls.protect(range, isReserved ? 0 : 3)
          for page in first..<first + count where owner[page] != nil {
            reserved[page] = isReserved
          }
        default:
          calls.map(range)
          for page in first..<first + count { (owner[page], reserved[page]) = (mappings, false) }
          mappings += 1
        }
      }
      let history = MappingReplay(calls.all, until: .distantFuture).history
      var (live, untouchable) = ([UInt64](repeating: 0, count: mappings), 0 as UInt64)
      for (page, mapping) in owner.enumerated() {
        guard let mapping else { continue }
        live[mapping] += Self.page
        untouchable += reserved[page] ? Self.page : 0
      }
      #expect(history.mappings.map(\.liveBytes) == live)
      #expect(history.mappings.reduce(0) { $0 + $1.reservedBytes } == untouchable)
    }
  }

  /// As the kernel gives them out, each below the one before.
  @Test func veryManyMappingsAreFollowedFast() {
    let count: UInt64 = 200_000
    var calls = MappingCalls()
    for index in (1...count).reversed() { calls.map(Self.pages(index * 2, 1)) }
    for index in 1...count / 2 { calls.unmap(Self.pages(index * 4, 1)) }
    var history = MappingHistory()
    let time = SpentResources.threadTime {
      history = MappingReplay(calls.all, until: .distantFuture).history
    }
    #expect(history.liveBytes == count / 2 * Self.page)
    #expect(history.mappings.filter { $0.liveBytes == 0 }.count == Int(count / 2))
    #expect(time < .seconds(15))
    calls.unmap(Self.pages(0, count * 3))
    history = MappingReplay(calls.all, until: .distantFuture).history
    #expect(history.liveBytes == 0)
    #expect(history.mappings.allSatisfy { $0.liveBytes == 0 })
  }

  @Test func noLengthIsTooGreat() {
    let all = MappedRange(at: 1, length: .max)
    let history = history { calls in
      calls.map(all)
      calls.map(MappedRange(at: .max, length: .max))
      calls.protect(all, 0)
      calls.remap(all, to: all)
      calls.unmap(all)
    }
    #expect(history.liveBytes == 0)
    #expect(history.mappings.count == 2)
  }

  @Test(
    arguments: [
      (3, 0x22, "", MappingKind.anonymous), (7, 0x22, "", .executable), (0, 0x22, "", .reserved),
      (3, 0x4_0022, "", .hugePages), (3, 0x2_0022, "", .stack), (3, 0x122, "", .stack),
      (3, 0x21, "", .shared), (3, 1, "/memfd:ring (deleted)", .shared),
      (3, 1, "/dev/shm/a", .shared),
      (1, 2, "/usr/lib/a.so", .file), (3, 1, "/dev/dri/card0", .device),
      (3, 2, "/dev/zero", .anonymous),
    ] as [(UInt32, UInt32, String, MappingKind)])
  func kindsFollowFromTheCall(
    protection: UInt32, flags: UInt32, path: String, kind: MappingKind
  ) {
    #expect(MappingKind(protection: protection, flags: flags, path: path) == kind)
  }

  @Test func recordsComeBackAsTheyWere() throws {
    var calls = MappingCalls()
    calls.map(Self.pages(10, 2), flags: 1, path: "/data/ä", offset: 8192, stack: 3)
    calls.unmap(Self.pages(10, 2))
    calls.remap(Self.pages(10, 2), to: Self.pages(20, 3))
    calls.protect(Self.pages(20, 1), 5)
    calls.moveBreak(from: 100, to: 200)
    var builder = TraceBuilder()
    for call in calls.all { builder.mapping(call) }
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    #expect(trace.recordsMappings)
    #expect(trace.mappingCalls == calls.all)
    #expect(trace.coverage.damage.isEmpty)
  }

  @Test func othersSayThatNoneAreRecorded() throws {
    let file = try TraceBuilder().write()
    #expect(try !Trace(path: file.path).recordsMappings)
  }
}

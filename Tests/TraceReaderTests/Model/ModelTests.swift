import Testing
import TraceReader

@Suite struct SizeClassTests {
  private static let names: [(UInt64, String)] = [
    (0, "Malloc-16"), (1, "Malloc-16"), (16, "Malloc-16"), (17, "Malloc-32"),
    (1000, "Malloc-1008"), (1008, "Malloc-1008"), (1009, "Malloc-1.00 KiB"),
    (1024, "Malloc-1.00 KiB"), (1025, "Malloc-1.50 KiB"), (1536, "Malloc-1.50 KiB"),
    (32768, "Malloc-32.00 KiB"), (32769, "Malloc-36.00 KiB"), (1 << 20, "Malloc-1.00 MiB"),
    ((1 << 20) + 1, "Malloc-1.02 MiB"), (9 << 18, "Malloc-2.25 MiB"),
    (2_000_000, "Malloc-1.92 MiB"), (1_997_000, "Malloc-1.91 MiB"),
    ((1 << 30) - 1, "Malloc-1.00 GiB"), (1 << 30, "Malloc-1.00 GiB"),
    ((1 << 30) + 1, "Malloc-1.02 GiB"), (100 << 20, "Malloc-100.00 MiB"),
  ]

  @Test(arguments: names)
  func nameIsTheRoundedSize(_ requested: UInt64, _ name: String) {
    #expect(SizeClass(containing: requested).name == name)
  }

  /// Rows of a table that read alike could not be told apart, nor chosen by name.
  @Test func eachClassHasANameOfItsOwn() {
    var names: Set<String> = []
    var size: UInt64 = 0
    while size < 5 << 30 {
      let sizeClass = SizeClass(containing: size + 1)
      #expect(sizeClass.bytes > size)
      #expect(names.insert(sizeClass.name).inserted, "\(sizeClass.name)")
      #expect(SizeClass(containing: sizeClass.bytes) == sizeClass)
      size = sizeClass.bytes
    }
  }

  @Test func greatestSizeDoesNotTrap() {
    #expect(SizeClass(containing: .max).name.hasPrefix("Malloc-1"))
  }
}

@Suite struct TraceClockTests {
  private func clock(_ change: (inout TraceHeader) -> Void) -> TraceClock {
    var header = TraceHeader()
    change(&header)
    return TraceClock(header: header)
  }

  @Test func knownRateIsUsed() {
    let clock = clock {
      $0.ticksPerSecond = 100_000_000
      $0.startTicks = 1600
      $0.tickShift = 4
    }
    #expect(clock.nanoseconds(EventTime(100)) == 0)
    #expect(clock.nanoseconds(EventTime(101)) == 160)
    #expect(clock.nanoseconds(EventTime(1)) == 0)
    #expect(clock.eventTime(nanoseconds: 1600) == EventTime(110))
    #expect(clock.eventTime(nanoseconds: 1601) == EventTime(111))
  }

  /// Else what was asked for at 1.5 s would be shown at 1.499999 s.
  @Test(arguments: [1, 999, 1_000_000, 1_500_000_000, 3_000_000_000] as [UInt64])
  func aTimeThatIsAskedForIsShown(nanoseconds: UInt64) {
    let clock = clock {
      $0.ticksPerSecond = 2_112_003_017
      $0.startTicks = 7_000_000_001
    }
    #expect(clock.nanoseconds(clock.eventTime(nanoseconds: nanoseconds)) == nanoseconds)
  }

  @Test func pairsOfClocksGiveTheRate() {
    let clock = clock {
      $0.startTicks = 1000
      $0.latestTicks = 4000
      $0.startMonotonicNanoseconds = 50
      $0.latestMonotonicNanoseconds = 1050
    }
    #expect(clock.nanoseconds(EventTime(1300)) == 100)
    #expect(clock.nanoseconds(from: EventTime(1300), to: EventTime(1600)) == 100)
    #expect(clock.nanoseconds(from: EventTime(1600), to: EventTime(1300)) == 0)
  }

  @Test func withoutAnyRateATickIsANanosecond() {
    #expect(clock { _ in }.nanoseconds(EventTime(7)) == 7)
  }

  @Test func extremesDoNotTrap() {
    let clock = clock {
      $0.tickShift = .max
      $0.startTicks = .max
      $0.ticksPerSecond = 1
    }
    #expect(clock.nanoseconds(EventTime(.max)) == .max)
    #expect(clock.eventTime(nanoseconds: .max) == EventTime(2))
  }
}

@Suite struct MemoryLimitsTests {
  @Test func leastLimitIsAvailable() {
    var header = TraceHeader()
    header.ramBytes = 1000
    #expect(MemoryLimits(header: header).availableBytes == 1000)
    header.cgroupLimitBytes = 500
    #expect(MemoryLimits(header: header).availableBytes == 500)
    header.addressSpaceLimitBytes = 200
    #expect(MemoryLimits(header: header).availableBytes == 200)
  }

  @Test func nothingIsKnownOfAnEmptyHeader() {
    #expect(MemoryLimits(header: TraceHeader()).availableBytes == nil)
  }
}

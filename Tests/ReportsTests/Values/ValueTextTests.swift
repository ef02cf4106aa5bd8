import Testing

@testable import Reports

@Suite struct ValueTextTests {
  @Test(arguments: [
    (0, "0 B"), (48, "48 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1280, "1.25 KiB"),
    (1536, "1.50 KiB"), (16384, "16.00 KiB"), (102_399, "100.0 KiB"), (262_144, "256.0 KiB"),
    (1_048_575, "1.00 MiB"), (1_048_576, "1.00 MiB"), (55_445_520, "52.88 MiB"),
    (64 << 20, "64.00 MiB"), (5 << 30, "5.00 GiB"), (1 << 60, "1.00 EiB"),
    (UInt64.max, "16.00 EiB"),
  ])
  func bytesAreWrittenAsInstrumentsDoes(bytes: UInt64, text: String) {
    #expect(ByteStyle.human.format(bytes) == text)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (55_445_520, "55,445,520"),
    (UInt64.max, "18,446,744,073,709,551,615"),
  ])
  func exactBytesHaveAllDigits(bytes: UInt64, text: String) {
    #expect(ByteStyle.exact.format(bytes) == text)
    #expect(ByteStyle.exact.withUnit(bytes) == text + " B")
  }

  @Test func negativeNumbersKeepTheirSign() {
    #expect((-1234567).grouped == "-1,234,567")
    #expect((-123).grouped == "-123")
  }

  @Test(arguments: [
    (0, "00:00.000.000"), (999, "00:00.000.000"), (1_500_250_000, "00:01.500.250"),
    (61_000_000_000, "01:01.000.000"), (7_200_000_000_000, "120:00.000.000"),
  ])
  func timestampsAreMinutesSecondsMillisMicros(nanoseconds: UInt64, text: String) {
    #expect(TimeText.timestamp(nanoseconds) == text)
  }

  @Test(arguments: [
    (0, "0 ns"), (830, "830 ns"), (45_299, "45.2 µs"), (999_999, "999.9 µs"),
    (123_456_789, "123.4 ms"), (1_234_567_890, "1.234 s"), (123_000_000_000, "2 min 03 s"),
    (3_720_000_000_000, "1 h 02 min"),
  ])
  func durationsAreInTheUnitThatSuits(nanoseconds: UInt64, text: String) {
    #expect(TimeText.duration(nanoseconds) == text)
  }

  @Test func sharesOfNothingAreZero() {
    #expect(ShareText.percent(5, of: 0) == "0.0 %")
    #expect(ShareText.percent(614, of: 1000) == "61.4 %")
    #expect(ShareText.wholePercent(614, of: 1000) == "61 %")
  }

  @Test func theBarIsSolidForWhatLivesAndLightForWhatWasFreed() {
    #expect(ShareText.bar(persistent: 0, total: 0, width: 4) == "")
    #expect(ShareText.bar(persistent: 4, total: 4, width: 4) == "████")
    #expect(ShareText.bar(persistent: 0, total: 4, width: 4) == "░░░░")
    #expect(ShareText.bar(persistent: 2, total: 4, width: 4) == "██░░")
  }

  @Test func theBarNeverHidesASmallPart() {
    #expect(ShareText.bar(persistent: 1, total: 1_000_000, width: 4) == "█░░░")
    #expect(ShareText.bar(persistent: 999_999, total: 1_000_000, width: 4) == "███░")
  }

  @Test func aSparklineShowsTheGreatestValueOfEachPart() {
    let line = Sparkline([0, 1, 2, 3, 4, 5, 6, 7], width: 4)
    #expect(line.text == "▂▄▆█")
    #expect(line.peakColumn == 3)
  }

  @Test func aSparklineOfNothingIsBlank() {
    let line = Sparkline([0, 0, 0], width: 8)
    #expect(line.text == "   ")
    #expect(line.peakColumn == nil)
    #expect(Sparkline([], width: 8).text == "")
  }
}

import TraceReader

/// Calls as tests write them: addresses and lengths in pages, times as they come.
struct MappingCalls {
  private(set) var all: [MappingCall] = []
  /// Goes on by 10 with each call.
  var time: UInt64 = 0

  static let page: UInt64 = 4096
  static let readWrite: UInt32 = 3
  static let privateAnonymous: UInt32 = 0x22

  /// Pages, from one on.
  static func pages(_ first: UInt64, _ count: UInt64) -> MappedRange {
    MappedRange(at: first * page, length: count * page)
  }

  mutating func map(
    _ range: MappedRange, protection: UInt32 = readWrite, flags: UInt32 = privateAnonymous,
    path: String = "", offset: UInt64 = 0, stack: UInt32 = 0
  ) {
    add(
      MappingCall(
        .mmap, endTime: next, time: after, begun: range, offset: offset, stack: StackID(stack),
        thread: ThreadIndex(1), protection: protection, flags: flags, path: path))
  }

  mutating func unmap(_ range: MappedRange, stack: UInt32 = 0) {
    add(MappingCall(.munmap, endTime: next, time: after, ended: range, stack: StackID(stack)))
  }

  mutating func remap(_ range: MappedRange, to other: MappedRange, flags: UInt32 = 1) {
    add(
      MappingCall(.mremap, endTime: next, time: after, ended: range, begun: other, flags: flags))
  }

  mutating func protect(_ range: MappedRange, _ protection: UInt32) {
    add(
      MappingCall(.mprotect, endTime: next, time: after, begun: range, protection: protection))
  }

  mutating func moveBreak(from start: UInt64, to end: UInt64) {
    let range = MappedRange(start: min(start, end), end: max(start, end))
    add(
      MappingCall(
        .programBreak, endTime: next, time: after, ended: end < start ? range : .empty,
        begun: end < start ? .empty : range))
  }

  mutating func add(_ call: MappingCall) {
    all.append(call)
    time += 10
  }

  private var next: EventTime { EventTime(time) }
  private var after: EventTime { EventTime(time + 5) }
}

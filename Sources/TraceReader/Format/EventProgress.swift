/// Tells how much of the events has been read.
struct EventProgress {
  var total: UInt64
  var body: (@Sendable (_ bytesDone: UInt64, _ bytesTotal: UInt64) -> Void)?

  func report(_ done: UInt64) {
    body?(min(done, total), total)
  }

  func finish() {
    body?(total, total)
  }
}

/// Tells how much of the events has been read.
struct EventProgress {
  let total: UInt64
  let body: (@Sendable (_ bytesDone: UInt64, _ bytesTotal: UInt64) -> Void)?

  init(of chunks: [EventChunk], body: (@Sendable (UInt64, UInt64) -> Void)?) {
    total = chunks.reduce(0) { $0 &+ UInt64($1.length) }
    self.body = body
  }

  func report(_ done: UInt64) {
    body?(min(done, total), total)
  }

  func finish() {
    body?(total, total)
  }
}

import SystemPackage
import TraceReader
import TraceTestSupport

/// Writes traces of any length without keeping them in memory.
struct TraceGenerator {
  var events: Int
  var threads: Int
  var greatestLive: Int
  var seed: UInt64

  private static let chunkLength = 64 << 10

  /// - Returns: The bytes of events written.
  func write(to path: FilePath) throws -> Int {
    var builder = TraceBuilder()
    builder.eventChunkLength = Self.chunkLength
    var random = SeededGenerator(seed: seed)
    let stacks = (0..<2000).map { _ -> StackID in
      builder.stack(
        (0..<20).map { 0x400000 + UInt64($0) * 0x10000 + .random(in: 0..<8, using: &random) * 16 })
    }
    let start = builder.bytes()
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    return try file.closeAfter {
      try file.writeAll(start)
      return try writeEvents(to: file, at: UInt64(start.count), builder.header, stacks)
    }
  }

  private func writeEvents(
    to file: FileDescriptor, at start: UInt64, _ header: TraceHeader, _ stacks: [StackID]
  ) throws -> Int {
    var programs = (0..<threads).map { thread in
      SyntheticProgram(
        seed: seed &+ UInt64(thread), stacks: stacks, greatestLive: greatestLive / threads,
        heapStart: 0x5555_0000_0000 + UInt64(thread) << 36)
    }
    var encoders: [(base: UInt64, encoder: EventEncoder)] = programs.map { _ in
      (1000, EventEncoder(baseTime: 1000))
    }
    var random = SeededGenerator(seed: seed)
    var (offset, sequence, time, bytes) = (start, UInt64(100), UInt64(1000), 0)
    func flush(_ lane: Int) throws {
      let content = encoders[lane].encoder.writer.bytes
      let chunk = ChunkWriter.chunk(
        kind: 3, encoding: 1, content: content, offset: offset, sequence: sequence,
        baseTime: encoders[lane].base, thread: UInt32(lane + 1), traceTag: header.traceID.low,
        length: Self.chunkLength)
      try file.writeAll(chunk)
      offset += UInt64(chunk.count)
      sequence += 1
      bytes += content.count
    }
    for _ in 0..<events {
      time += UInt64.random(in: 2..<40, using: &random)
      let lane = threads == 1 ? 0 : Int.random(in: 0..<threads, using: &random)
      encoders[lane].encoder.append(programs[lane].next(time: time, thread: UInt32(lane + 1)))
      if encoders[lane].encoder.writer.bytes.count > Self.chunkLength - 128 {
        try flush(lane)
        encoders[lane] = (time, EventEncoder(baseTime: time))
      }
    }
    for lane in encoders.indices { try flush(lane) }
    return bytes
  }
}

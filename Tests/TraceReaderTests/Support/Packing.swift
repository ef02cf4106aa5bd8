import SystemPackage
import TraceReader
import TraceTestSupport

extension TraceBuilder {
  /// The bytes of the packed trace.
  func packed(level: Int = 3, symbols: [[UInt8]] = []) throws -> [UInt8] {
    try open { try $0.packed(level: level, symbols: symbols) }
  }
}

extension Trace {
  /// The bytes of this trace, packed.
  func packed(level: Int = 3, symbols: [[UInt8]] = []) throws -> [UInt8] {
    try written { file throws(TraceError) in
      try TracePacker(self, level: level, symbols: symbols).write(to: file)
    }.bytes
  }

  /// The bytes of this packed trace, unpacked, and how many of them are lost.
  func unpacked() throws -> (bytes: [UInt8], lost: UInt64) {
    let (lost, bytes) = try written { file throws(TraceError) in
      try TraceUnpacker(self).write(to: file)
    }
    return (bytes, lost)
  }

  private func written<Result>(
    _ body: (FileDescriptor) throws(TraceError) -> Result
  ) throws -> (result: Result, bytes: [UInt8]) {
    let file = try TemporaryFile([])
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    let result = try body(descriptor)
    let size = try descriptor.seek(offset: 0, from: .end)
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = try bytes.withUnsafeMutableBytes {
      try descriptor.read(fromAbsoluteOffset: 0, into: $0)
    }
    return (result, Array(bytes.prefix(count)))
  }
}

/// What a trace says, snapshots and types too, but for the sizes of its file.
struct TraceContent: Equatable {
  var events: [Event] = []
  var frames: [[RawFrame]] = []
  var process: TracedProcess
  var threads: [ThreadInfo]
  var images: [Image]
  var notes: [Note]
  var marks: [Mark]
  var coverage: Coverage
  var types: [BlockType]
  var sightings: [[TypeSighting]] = []
  var snapshots: [SnapshotInfo]
  /// For each snapshot the addresses and values of its words, in turns.
  var words: [[UInt64]]
  var ending: TraceEnding
  var refcounts: [RefcountEvent] = []
  var refcountRecording: RefcountRecording?

  init(_ trace: Trace) throws {
    process = trace.process
    threads = trace.threads
    images = trace.images.images
    notes = trace.notes
    marks = trace.marks
    ending = trace.ending
    types = trace.types.all
    snapshots = trace.snapshots
    words = try trace.snapshots.indices.map { index in
      var words: [UInt64] = []
      try trace.loadSnapshot(index).forEachWord(in: 0..<UInt64.max) { words += [$0, $1] }
      return words
    }
    coverage = try trace.replay().coverage
    var events: [Event] = []
    try trace.forEachEvent { _, event in
      events.append(event)
      return true
    }
    self.events = events
    refcountRecording = trace.refcountRecording
    var refcounts: [RefcountEvent] = []
    _ = trace.forEachRefcount {
      refcounts.append($0)
      return true
    }
    self.refcounts = refcounts
    var id = StackID.first
    while id < trace.stacks.endID {
      frames.append(trace.stacks.frames(of: id))
      sightings.append(trace.types.sightings(of: id))
      id = StackID(id.rawValue + 1)
    }
  }

  init(_ bytes: [UInt8]) throws {
    let file = try TemporaryFile(bytes)
    self = try withExtendedLifetime(file) { try TraceContent(try Trace(path: file.path)) }
  }
}

/// Opens bytes as a trace.
func withTrace<Result>(_ bytes: [UInt8], _ body: (Trace) throws -> Result) throws -> Result {
  let file = try TemporaryFile(bytes)
  return try withExtendedLifetime(file) { try body(try Trace(path: file.path)) }
}

import TraceReader

/// What a trace is: its process, threads, images, and what it does not hold.
public struct InfoReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.info"

  /// The fixed facts of the file.
  public struct File: Sendable, Hashable, Encodable {
    /// Bytes of the file.
    public var bytes: UInt64
    /// Whether the file is packed.
    public var isPacked: Bool
    /// Bytes of the trace as it was recorded; nil when it never was packed.
    public var recordedBytes: UInt64?
    /// The number of events; nil when it never was packed, which counts them.
    public var events: UInt64?
    /// The version of the format, such as `1.0`.
    public var formatVersion: String
    /// A random name of this trace, 32 hexadecimal digits.
    public var traceID: String
    /// The trace of the process that forked or executed this one.
    public var parentTraceID: String?
    /// A random name shared by all traces of one recording.
    public var sessionID: String
    /// Whether `memtrace record` began the recording, not a bare `LD_PRELOAD`.
    public var isLaunched: Bool
    /// Whether the process began by fork, so that blocks may be its parent's.
    public var isForked: Bool
    /// Whether child processes are recorded too.
    public var followsChildren: Bool
    /// The greatest number of frames kept per stack.
    public var stackDepth: UInt32
    /// Whether retains and releases were recorded; nil when nobody asked for them.
    public var refcounts: Refcounts?
    /// The number of different stacks' frames.
    public var stackNodes: Int
  }

  /// Whether retains and releases were recorded.
  public struct Refcounts: Sendable, Hashable, Encodable {
    /// The patterns of the types; `*` for all.
    public var types: String
    /// The images whose Swift runtime was recorded; empty when there was none.
    public var runtimes: [String]
    /// `path: reason` of those whose runtime could not be.
    public var refusals: [String]
  }

  /// The recorded process.
  public struct Process: Sendable, Hashable, Encodable {
    /// The process ID of the parent.
    public var ppid: UInt32
    /// The user ID.
    public var uid: UInt32
    /// The working directory at the start.
    public var workingDirectory: String
    /// `x86_64`, `aarch64` or the number of the ELF machine.
    public var machine: String
    /// Physical memory; 0 when not known.
    public var ramBytes: UInt64
    /// `RLIMIT_AS`; nil when unlimited.
    public var addressSpaceLimitBytes: UInt64?
    /// The memory limit of the cgroup; nil when there is none.
    public var cgroupLimitBytes: UInt64?
  }

  /// A thread and its life.
  public struct Thread: Sendable, Hashable, Encodable {
    /// Who it is.
    public var thread: ThreadSummary
    /// When the recorder first saw it, nanoseconds since the recording began.
    public var beganNanoseconds: UInt64
    /// When it ended; nil when it did not, or nobody saw it.
    public var endedNanoseconds: UInt64?
  }

  /// A loaded image.
  public struct Image: Sendable, Hashable, Encodable {
    /// The path it was loaded from.
    public var path: String
    /// Its build ID in hexadecimal; nil when it has none.
    public var buildID: String?
    /// The lowest mapped address.
    public var start: String
    /// One past the highest mapped address.
    public var end: String
    /// When it was first seen, nanoseconds since the recording began.
    public var loadedNanoseconds: UInt64
    /// When it was found missing; nil when it stayed.
    public var unloadedNanoseconds: UInt64?
  }

  /// Another trace of the same recording.
  public struct Relative: Sendable, Hashable, Encodable {
    /// The file name, as the user would type it.
    public var file: String
    /// The process ID.
    public var pid: UInt32
    /// `parent`, `child` or `related`.
    public var relation: String

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - file: The file name, as the user would type it.
    ///   - pid: The process ID.
    ///   - relation: `parent`, `child` or `related`.
    public init(file: String, pid: UInt32, relation: String) {
      self.file = file
      self.pid = pid
      self.relation = relation
    }
  }

  /// A remark of the recorder or a mark of the program.
  public struct Remark: Sendable, Hashable, Encodable {
    /// `text`, `exec`, `child`, `mark`, `bypassed`, `child-not-followed`,
    /// `rebound` or `other`.
    public var kind: String
    /// Nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// What it says.
    public var text: String
  }

  /// A heap snapshot.
  public struct Snapshot: Sendable, Hashable {
    /// When, why, and how whole it is.
    public var summary: SnapshotSummary
    /// The threads of the process.
    public var threadCount: Int
    /// The mappings of the process.
    public var regionCount: Int
    /// Whether all words are kept, not only those that can be pointers.
    public var keepsContents: Bool
    /// The blocks that were live; nil where they were not counted.
    public var live: BlockSum?
  }

  /// A moment that was named.
  public struct Mark: Sendable, Hashable, Encodable {
    /// What it is called.
    public var name: String
    /// Nanoseconds since the recording began.
    public var timeNanoseconds: UInt64
    /// The thread that made it; nil for a mark from outside.
    public var thread: ThreadSummary?
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// The file.
  public var file: File
  /// The process.
  public var process: Process
  /// The threads in the order of their beginning.
  public var threads: [Thread]
  /// The images in the order of loading.
  public var images: [Image]
  /// The heap snapshots in the order of time.
  public var snapshots: [Snapshot]
  /// The marks in the order of time.
  public var marks: [Mark]
  /// The other traces of the recording.
  public var relatives: [Relative]
  /// Notes and marks in the order of time.
  public var remarks: [Remark]
  /// Whether the events were read, so that the coverage tells of damage among them.
  public var hasReadEvents = false
  /// Whether the text lists all threads and images.
  var listsAll = false
}

extension InfoReport {
  /// Takes the facts from an opened trace.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - source: Who was traced.
  ///   - relatives: The other traces of the recording.
  ///   - live: What was live at each snapshot; nil where it was not counted.
  ///   - coverage: What is missing, where the events were read; nil where they were not.
  ///   - listsAll: Whether the text lists all threads and images.
  public init(
    _ trace: Trace, source: ReportSource, relatives: [Relative] = [], live: [LiveTotal]? = nil,
    coverage: Coverage? = nil, listsAll: Bool = false
  ) {
    let clock = trace.clock
    self.init(
      trace: source.trace, coverage: CoverageSummary(coverage ?? trace.coverage), file: File(trace),
      process: Process(trace),
      threads: trace.threads.map { Thread($0, clock) },
      images: trace.images.images.map { Image($0, clock) },
      snapshots: trace.snapshots.enumerated().map { position, info in
        Snapshot(info, clock, live: live.flatMap { position < $0.count ? $0[position] : nil })
      },
      marks: trace.marks.map { mark in
        Mark(
          name: mark.name, timeNanoseconds: clock.nanoseconds(mark.time),
          thread: mark.thread == .recorder ? nil : source.threads.summary(of: mark.thread))
      },
      relatives: relatives,
      remarks: Self.remarks(trace), hasReadEvents: coverage != nil, listsAll: listsAll)
  }

  private static func remarks(_ trace: Trace) -> [Remark] {
    let notes = trace.notes.map { note in
      Remark(
        kind: NoteText.kind(note.kind), timeNanoseconds: trace.clock.nanoseconds(note.time),
        text: NoteText.of(note))
    }
    let marks = trace.marks.map {
      Remark(kind: "mark", timeNanoseconds: trace.clock.nanoseconds($0.time), text: $0.name)
    }
    let clock = trace.clock
    let switches = (trace.windows ?? []).flatMap { window in
      [("resumed", window.start)] + (window.end.map { [("paused", $0)] } ?? [])
    }.map { Remark(kind: "recording", timeNanoseconds: clock.nanoseconds($0.1), text: $0.0) }
    return (notes + marks + switches).enumerated().sorted {
      ($0.element.timeNanoseconds, $0.offset) < ($1.element.timeNanoseconds, $1.offset)
    }.map(\.element)
  }
}

/// Notes in words.
enum NoteText {
  static func of(_ note: Note) -> String {
    switch note.kind {
    case .child: "process \(note.value)"
    case .bypassed: BypassText.of(note.text)
    case .guarded: guarded(note)
    case .failAt: "allocations \(note.text) are made to fail"
    case .attached: "after \(TimeText.duration(note.value))"
    case .bundled:
      "\(CountText.of(note.value, "call")) of a bundled allocator led to the recorder: \(note.text)"
    case .pythonMalloc: "PYTHONMALLOC is \(note.text)"
    case .limit: "allocations beyond \(note.value.grouped) live bytes are made to fail"
    default: note.text
    }
  }

  /// `blocks of 24,100-200 bytes, one in 4`.
  private static func guarded(_ note: Note) -> String {
    let blocks = note.text == "all" ? "blocks of all sizes" : "blocks of \(note.text) bytes"
    return note.value > 1 ? "\(blocks), one in \(note.value.grouped)" : blocks
  }

  static func kind(_ kind: Note.Kind) -> String {
    switch kind {
    case .text: "text"
    case .childNotFollowed: "child-not-followed"
    case .bypassed: "bypassed"
    case .exec: "exec"
    case .child: "child"
    case .rebound: "rebound"
    case .noSnapshot: "no-snapshot"
    case .mayCrash: "may-crash"
    case .zombies: "zombies"
    case .redzones: "redzones"
    case .guarded: "guard"
    case .failAt: "fail-at"
    case .limit: "limit"
    case .attached: "attached"
    case .bundled: "bundled"
    case .pythonMalloc: "python-malloc"
    case .title: "title"
    case .unknown: "other"
    }
  }
}

extension InfoReport.File {
  fileprivate init(_ trace: Trace) {
    let header = trace.header
    self.init(
      bytes: trace.fileSize, isPacked: trace.isPacked,
      recordedBytes: header.recordedBytes > 0 ? header.recordedBytes : nil,
      events: header.recordedBytes > 0 ? header.events : nil,
      formatVersion: "\(header.major).\(header.minor)",
      traceID: header.traceID.description,
      parentTraceID: header.parentTraceID.isZero ? nil : header.parentTraceID.description,
      sessionID: header.sessionID.description, isLaunched: header.flags.contains(.launched),
      isForked: header.flags.contains(.forked), followsChildren: header.flags.contains(.follow),
      stackDepth: header.stackDepth,
      refcounts: trace.refcountRecording.map { recording in
        InfoReport.Refcounts(
          types: recording.isOfAllTypes ? "*" : recording.patterns, runtimes: recording.runtimes,
          refusals: recording.refusals)
      },
      stackNodes: trace.stacks.count)
  }
}

extension InfoReport.Snapshot {
  fileprivate init(_ info: SnapshotInfo, _ clock: TraceClock, live: LiveTotal?) {
    self.init(
      summary: SnapshotSummary(info, clock: clock), threadCount: info.threads.count,
      regionCount: info.regions.count, keepsContents: info.keepsContents,
      live: live.map { total in
        var sum = BlockSum()
        (sum.count, sum.bytes) = (total.count, total.bytes)
        return sum
      })
  }
}

extension InfoReport.Process {
  fileprivate init(_ trace: Trace) {
    let machine =
      switch trace.header.machine {
      case 62: "x86_64"
      case 183: "aarch64"
      default: "ELF machine \(trace.header.machine)"
      }
    self.init(
      ppid: trace.process.ppid, uid: trace.process.uid,
      workingDirectory: trace.process.workingDirectory, machine: machine,
      ramBytes: trace.limits.ramBytes, addressSpaceLimitBytes: trace.limits.addressSpaceBytes,
      cgroupLimitBytes: trace.limits.cgroupBytes)
  }
}

extension InfoReport.Thread {
  fileprivate init(_ info: ThreadInfo, _ clock: TraceClock) {
    self.init(
      thread: ThreadSummary(index: info.index.rawValue, tid: info.tid, name: info.name),
      beganNanoseconds: clock.nanoseconds(info.began),
      endedNanoseconds: info.ended.map(clock.nanoseconds))
  }
}

extension InfoReport.Image {
  fileprivate init(_ image: TraceReader.Image, _ clock: TraceClock) {
    let buildID = image.buildID.map { String($0, radix: 16).leftPadded(to: 2, with: "0") }
    self.init(
      path: image.path, buildID: buildID.isEmpty ? nil : buildID.joined(),
      start: HexText.of(image.start.rawValue), end: HexText.of(image.end.rawValue),
      loadedNanoseconds: clock.nanoseconds(image.loadTime),
      unloadedNanoseconds: image.unloadTime.map(clock.nanoseconds))
  }
}

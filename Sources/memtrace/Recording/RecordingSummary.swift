import CTraceFormat
import Reports
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// What `record` says at the end, on standard error.
struct RecordingSummary {
  var run: RecordedRun
  /// Paths are shown relative to it where they lie in it.
  var workingDirectory: FilePath

  /// The lines, without the name of the tool.
  var lines: [String] {
    guard let first = run.traces.first else {
      return [Self.nothingRecorded(run).description]
    }
    var lines = [headline(first)]
    lines += others
    lines += losses
    lines.append(
      "next: memtrace report \(ShellText.quoted(shown((run.last ?? first).path)))\(list)")
    return lines
  }

  /// Why a recording without any trace is a failure.
  static func nothingRecorded(_ run: RecordedRun) -> CommandFailure {
    let reason =
      run.folder.errorOfReading.map {
        "no trace was found: \(run.commandName) \(describe(run.ending)), but \(run.folder), where "
          + "its traces were to be, cannot be read: \($0)"
      }
      ?? "nothing was recorded: \(run.commandName) \(describe(run.ending)), but the recorder was "
      + "never loaded into it, or could write no trace (what they say about that stands above)"
    return CommandFailure(reason, exitStatus: ExitStatus.cannotRecord)
  }

  private func headline(_ trace: SessionTrace) -> String {
    let size =
      trace.packed.map { packed in
        "\(ByteStyle.human.format(packed.packedBytes)) packed, "
          + PackingText.perEvent(packed.packedBytes, packed.events)
      } ?? ByteStyle.human.format(Self.bytes(of: trace))
    return "\(run.commandName) \(Self.describe(run.ending)); "
      + "recorded in \(shown(trace.path)) (\(size))"
  }

  /// The size of a trace; a recording that stopped had claimed room that it did not get.
  private static func bytes(of trace: SessionTrace) -> UInt64 {
    let claimed = trace.header.fields.file_end
    var status = stat()
    guard stat(trace.path.string, &status) == 0 else { return claimed }
    return min(claimed, UInt64(clamping: status.st_size))
  }

  /// The other processes of the recording; the first few by name.
  private var others: [String] {
    let rest = run.traces.dropFirst()
    guard !rest.isEmpty else { return [] }
    let noun = rest.count == 1 ? "1 more trace" : "\(rest.count.grouped) more traces"
    return ["\(noun) of its processes: \(names(Array(rest)))"]
  }

  /// The first few of some traces by name.
  private func names(_ traces: [SessionTrace]) -> String {
    let named = traces.prefix(3).map { shown($0.path) }.joined(separator: ", ")
    return traces.count > 3 ? "\(named), … \((traces.count - 3).grouped) more" : named
  }

  /// What to type to see all traces; empty where there is one.
  private var list: String {
    guard let first = run.traces.first, run.traces.count > 1 else { return "" }
    let folder = shown(first.path.removingLastComponent())
    return "; memtrace report \(ShellText.quoted(folder.isEmpty ? "." : folder)) lists all of them"
  }

  /// What the traces do not hold: nothing is lost silently.
  private var losses: [String] {
    var lines: [String] = []
    let dropped = total(MT_COUNT_EVENTS_DROPPED) &+ total(MT_COUNT_EVENTS_NESTED_LOST)
    if dropped > 0 { lines.append("\(CountText.of(dropped, "event", .was)) not recorded") }
    for trace in run.traces {
      let fields = trace.header.fields
      guard let stop = StopReason(fields.stop_reason, errno: fields.stop_errno) else { continue }
      lines.append("\(shown(trace.path)): recording stopped early: \(stop.text)")
    }
    let children = total(MT_COUNT_CHILDREN_NOT_FOLLOWED)
    if children > 0 {
      let noun = children == 1 ? "1 child process" : "\(children) child processes"
      lines.append("\(noun) could not be recorded; `memtrace info` says which and why")
    }
    return lines + [aborted, running].compactMap { $0 }
  }

  /// The other processes that ended with `abort` or by a signal.
  private var aborted: String? {
    let kinds = [MT_END_ABORT.rawValue, MT_END_SIGNAL.rawValue]
    let traces = run.traces.filter {
      $0.header.pid != run.pid && kinds.contains($0.header.fields.end_kind)
    }
    guard !traces.isEmpty else { return nil }
    return traces.count == 1
      ? "1 of its processes was aborted or killed: \(names(traces))"
      : "\(traces.count.grouped) of its processes were aborted or killed: \(names(traces))"
  }

  /// The other processes of which nothing says that they have ended.
  private var running: String? {
    let traces = run.traces.filter { isEndMissing(in: $0.header) }
    guard !traces.isEmpty else { return nil }
    return traces.count == 1
      ? "1 of its processes wrote no end, and runs still or was killed: \(names(traces))"
      : "\(traces.count.grouped) of its processes wrote no end, and run still or were killed: "
        + names(traces)
  }

  /// Whether a process other than the command wrote no end, though it could have: in a sandbox none
  /// is written.
  private func isEndMissing(in header: TraceFileHeader) -> Bool {
    header.pid != run.pid && header.hasNoEnding
      && header.fields.stop_reason != MT_STOP_SANDBOX.rawValue
  }

  private func total(_ counter: mt_counter) -> UInt64 {
    run.traces.reduce(0) { $0 &+ $1.header.counter(counter) }
  }

  private func shown(_ path: FilePath) -> String {
    path.shown(relativeTo: workingDirectory)
  }

  static func describe(_ ending: ProcessEnding) -> String {
    switch ending {
    case .exited(let status): "exited with status \(status)"
    case .killed(let signal): "was killed by signal \(signal)\(SignalText.suffix(of: signal))"
    }
  }
}

import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// One process of a recording: its trace file.
struct SessionTrace {
  var path: FilePath
  var header: TraceFileHeader
  /// What packing it came to, if it was packed after the recording.
  var packed: PackSummary?
}

/// What came out of a recording.
struct RecordedRun {
  /// The command as it was typed.
  var commandName: String
  /// The process that the launcher started.
  var pid: pid_t
  /// How that process ended.
  var ending: ProcessEnding
  /// The traces of the recording: the launched process first, then in order of their start.
  ///
  /// A process that replaced itself by exec has one trace for each program it was. Empty when
  /// nothing could be recorded.
  var traces: [SessionTrace]
  /// The processes that run still and have no trace.
  ///
  /// Forked ones write one when they first do something that is recorded. Empty unless they were
  /// asked for.
  var unrecorded: [SessionProcess] = []
  /// Where the traces were to be.
  var folder: FilePath

  /// The trace of the launched process, as the program that was named.
  ///
  /// When that could not be recorded but a child could (`setuid-program child`), there is none.
  var root: SessionTrace? {
    traces.first.flatMap { $0.header.pid == pid ? $0 : nil }
  }

  /// The trace of the launched process, as the program that it was last.
  ///
  /// `sh -c prog` replaces itself by `prog`. As for ``root``, there may be none.
  var last: SessionTrace? { traces.last { $0.header.pid == pid } }

  /// The status that memtrace passes on.
  var exitStatus: Int32 { ending.exitStatus }
}

extension RecordedRun {
  /// Collects the traces of a session from the directory that its first trace was meant for.
  ///
  /// They are known by the session in their headers, not by their names: two recordings may have
  /// been told to write one file.
  ///
  /// - Parameters:
  ///   - session: The recording.
  ///   - pid: Its first process.
  ///   - path: Where a trace of it is, or was meant to be; `-o` may have named any extension.
  /// - Returns: The first process's first, then in order of their start.
  static func traces(of session: SessionID, root pid: pid_t, near path: FilePath)
    -> [SessionTrace]
  {
    let directory = path.removingLastComponent()
    return directory.directoryEntries
      .filter { OutputNaming.mayBeTrace($0) || FilePath($0).extension == path.extension }
      .compactMap { name in
        let path = directory.appending(name)
        return TraceFileHeader(readingFrom: path).map { SessionTrace(path: path, header: $0) }
      }
      .filter { $0.header.sessionID == session }
      .sorted { $0.order(root: pid) < $1.order(root: pid) }
  }
}

extension SessionTrace {
  fileprivate func order(root: pid_t) -> (Int, UInt64, String) {
    (header.pid == root ? 0 : 1, header.fields.start_mono_ns, path.string)
  }
}

import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// A process of a recording that runs, as `/proc` tells of it.
struct SessionProcess {
  /// As this process sees it.
  let pid: pid_t
  /// Its process ID in every namespace that it is in.
  let ids: Set<pid_t>
  /// The path of its program; empty when that may not be looked at.
  let executable: String

  /// The processes that run at the moment and have the variables of a recording: those that were
  /// forked have them as well, before they have a trace.
  ///
  /// - Returns: Those that may be looked at, and that have not written over their variables.
  static func running(in session: SessionID) -> [SessionProcess] {
    let entry = Array("\(RecordingEnvironment.sessionVariable)=\(session)".utf8)
    let own = getpid()
    return FilePath("/proc").directoryEntries.compactMap { name in
      guard let pid = pid_t(name), pid != own,
        case let folder = ProcessFolder.path(of: pid),
        let variables = try? ProcessFiles.bytes("\(folder)/environ"),
        variables.split(separator: 0).contains(where: { $0.elementsEqual(entry) }),
        let files = try? ProcessFiles(pid: pid), !files.isZombie
      else { return nil }
      let executable = FilePath("\(folder)/exe").resolved?.string ?? ""
      return SessionProcess(pid: pid, ids: files.ids, executable: executable)
    }
  }
}

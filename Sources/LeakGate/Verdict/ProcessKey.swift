/// Which process something was found in.
///
/// The traces tell apart what has the same process ID: in containers, programs often have.
struct ProcessKey: Hashable {
  private let name: String
  private let pid: UInt32
  private let trace: String?

  init(_ process: CheckedProcess) {
    (name, pid, trace) = (process.name, process.pid, process.trace)
  }

  init(_ finding: Finding) {
    (name, pid, trace) = (finding.process, finding.pid, finding.trace)
  }
}

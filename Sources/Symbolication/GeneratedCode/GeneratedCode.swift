import Glibc
import TraceReader

/// The code that a recorded process generated, as far as its runtime has listed it for `perf`.
///
/// The list is `/tmp/perf-PID.map`, with the number that the process has for itself. It is read when
/// first asked for. Belongs to one thread at a time.
public final class GeneratedCode {
  private let process: TracedProcess
  private let root: SystemRoot?
  private let oldestAt: UInt64
  private lazy var map = read()

  /// Larger lists are not read.
  private static let longestMap = 256 << 20

  /// Names a process; nothing is opened.
  ///
  /// - Parameters:
  ///   - process: Which one.
  ///   - root: Where its file system is; nil where it is this one.
  ///   - oldestAt: When it began, in nanoseconds since 1970: a list that has not changed since then is of an
  ///     earlier process with its number.
  public init(of process: TracedProcess, root: SystemRoot? = nil, oldestAt: UInt64) {
    self.process = process
    self.root = root
    self.oldestAt = oldestAt
  }

  /// The function that holds an address; none where it is not known.
  func frames(at address: UInt64) -> [ImageSymbols.Frame] {
    guard let function = map?.function(at: address) else { return [] }
    return [
      ImageSymbols.Frame(
        function: GeneratedNames.function(function.name), start: function.start, location: nil,
        isInlined: false)
    ]
  }

  private func read() -> PerfMap? {
    let path = "/tmp/perf-\(process.pid).map"
    let descriptor = RecordedFile.open(root?.place(of: path) ?? path)
    return RecordedFile.contents(
      closing: descriptor, upTo: Self.longestMap, where: isOfProcess
    ).map(PerfMap.init)
  }

  /// Whether a list is of this process: anybody can make files there.
  ///
  /// In a container users have other numbers.
  private func isOfProcess(_ status: stat) -> Bool {
    guard RecordedFile.changeTime(status) >= oldestAt else { return false }
    return root != nil || [0, geteuid(), process.uid].contains(status.st_uid)
  }
}

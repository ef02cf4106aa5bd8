import Reports
import Symbolication

/// The suppressions that programs have in themselves: the text that their `__lsan_default_suppressions` returns.
///
/// Each hides findings of its own program only. Programs with the same text, as the tests of a suite often
/// have, share what is said of it.
public struct ProgramSuppressions: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    var text: String
    /// The paths of the programs that have it.
    var executables: [String]
  }

  private var entries: [Entry] = []

  /// Makes an empty set.
  public init() {}

  /// Adds those of a program.
  ///
  /// - Throws: ``GateError`` for what is not understood.
  mutating func add(_ text: String, of executable: String) throws(GateError) {
    if let index = entries.firstIndex(where: { $0.text == text }) {
      if !entries[index].executables.contains(executable) {
        entries[index].executables.append(executable)
      }
      return
    }
    var parsed = SuppressionSet()
    try parsed.add(text, name: ReturnedText.suppressions)
    guard !parsed.suppressions.isEmpty else { return }
    entries.append(Entry(text: text, executables: [executable]))
  }

  /// The suppressions, each set with the paths of the programs that it is for.
  var sets: [(suppressions: SuppressionSet, executables: [String])] {
    entries.compactMap { entry in
      var set = SuppressionSet()
      let name = "\(ReturnedText.suppressions) of \(Self.name(of: entry.executables))"
      guard (try? set.add(entry.text, name: name)) != nil else { return nil }
      return (set, entry.executables)
    }
  }

  /// `app`, `app and 2 others`.
  private static func name(of executables: [String]) -> String {
    let first = executables.first.map(PathText.lastComponent) ?? ""
    let others = executables.count - 1
    return others > 0 ? "\(first) and \(CountText.plain(others, "other"))" : first
  }
}

extension GateInput {
  /// Adds a process that was measured, and what was found in it.
  ///
  /// - Parameters:
  ///   - process: The process.
  ///   - findings: What was found in it.
  ///   - suppressions: What its program has itself; nil for none.
  public mutating func add(
    _ process: CheckedProcess, _ findings: [Finding], suppressions: ReturnedText? = nil
  ) {
    var process = process
    switch suppressions {
    case nil: break
    case .text(let text):
      do throws(GateError) {
        try programSuppressions.add(text, of: process.executable)
      } catch {
        process.warnings.append("its suppressions are not understood: \(error.description)")
      }
    case .unknown:
      process.warnings.append(
        "its suppressions could not be read: \(ReturnedText.suppressions) does more than return a "
          + "text; put them into a file for --suppressions")
    }
    processes.append(process)
    self.findings += findings
  }
}

import LeakGate
import Reports
import SystemPackage

/// Writes a verdict in all forms that were asked for.
struct GateWriting {
  var options: GateOutputOptions

  /// Looks whether all files can be written: nobody runs a test suite to learn that they cannot.
  ///
  /// - Parameter baseline: A baseline that will be written, too.
  /// - Throws: ``CommandFailure`` for the first that cannot.
  func checkFiles(baseline: String?) throws {
    for target in options.outputs { try ReportOutput.checkCanBeWritten(file(of: target).0) }
    try ReportOutput.checkCanBeWritten(baseline)
  }

  /// Writes the verdict; as text to standard output unless another form goes there.
  func write(_ result: GateResult) throws {
    let root = SourceRoot(sourceRoot)
    var targets = options.outputs
    let isSpoken = targets.contains { $0.file == nil && $0.kind != .summary || $0.kind == .text }
    if !isSpoken { targets.insert(.init(kind: .text, file: nil), at: 0) }
    for target in targets {
      let text = try result.output(
        as: target.kind, style: style(target), root: root, isLog: target.file == nil)
      let (file, appends) = try self.file(of: target)
      try ReportOutput.withOutput(file, appends: appends) { output in _ = try output.write(text) }
    }
  }

  private func style(_ target: GateOutputOptions.Target) -> TextStyle {
    let bytes: ByteStyle = options.bytes ? .exact : .human
    return target.file == nil ? .forStandardOutput(bytes: bytes) : TextStyle(bytes: bytes)
  }

  /// Where an output goes; the summary of a job grows from step to step.
  private func file(of target: GateOutputOptions.Target) throws -> (String?, appends: Bool) {
    guard target.kind == .summary, target.file == nil else { return (target.file, false) }
    guard let file = EnvironmentVariables.current["GITHUB_STEP_SUMMARY"], !file.isEmpty else {
      throw CommandFailure(
        "--output summary needs a file outside GitHub Actions: --output summary=FILE",
        exitStatus: ExitStatus.usage)
    }
    return (file, true)
  }

  /// The folder that paths are relative to.
  private var sourceRoot: String {
    if let folder = options.sourceRoot { return FilePath(folder).absolute.string }
    var folder = FilePath.workingDirectory
    while !folder.appending(".git").exists {
      guard folder.removeLastComponent(), !folder.string.isEmpty else {
        return FilePath.workingDirectory.string
      }
    }
    return folder.string
  }
}

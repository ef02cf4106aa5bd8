import ArgumentParser
import Reports

#if canImport(Glibc)
  import Glibc
#endif

/// The forms in which other tools read stacks.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  case folded
  case html
  case pprof
}

extension ExportFormat: OutputForm {
  var endings: [String] {
    switch self {
    case .folded: [rawValue]
    case .html: [rawValue, "htm"]
    case .pprof: [rawValue, "pb", "pb.gz"]
    }
  }
}

extension ProfileValue: ExpressibleByArgument {}

/// Where an export goes and in which form.
struct ExportOptions: OutputFormChoice {
  @Option(
    name: .customLong("format"),
    help: ArgumentHelp(
      "The form; without it as the file's name says, .html or .pb, else folded.", valueName: "form")
  )
  var chosenFormat: ExportFormat?

  @Option(
    help: ArgumentHelp(
      "What is counted, or shown first by forms that hold all values; live ones at the end, or as "
        + "--live-at says.", valueName: "what"))
  var value = ProfileValue.liveBytes

  @OptionGroup var file: OutputFileOption

  var output: String? { file.name }

  var format: ExportFormat { form ?? .folded }

  /// Looks whether the export can be written, before anybody waits for it.
  ///
  /// - Throws: ``CommandFailure`` when it cannot, or when bytes that are no text would go to a terminal.
  func checkCanBeWritten() throws {
    if format == .pprof, file.name == nil, isatty(STDOUT_FILENO) != 0 {
      throw CommandFailure(
        "pprof is no text for a terminal; give a file: -o profile.pb", exitStatus: ExitStatus.usage)
    }
    try ReportOutput.checkCanBeWritten(file.name)
  }

  /// Opens the output and hands it to `body`.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written.
  func write(_ body: (ReportOutput) throws -> Void) throws {
    try ReportOutput.withOutput(file.name, body)
  }
}

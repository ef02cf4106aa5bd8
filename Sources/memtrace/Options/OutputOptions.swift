import ArgumentParser
import Reports

extension ReportFormat: ExpressibleByArgument, OutputForm {}

/// The forms of what is no table.
enum DocumentFormat: String, CaseIterable, ExpressibleByArgument, OutputForm {
  case text, json

  /// What `--format` says of them.
  static var help: ArgumentHelp {
    ArgumentHelp(
      "The form: text or json (see docs/json-schema.md); without it as the file's name says, "
        + ".json, else text.", valueName: "form")
  }
}

/// Where something is written.
protocol OutputTarget {
  /// The file; nil for standard output.
  var output: String? { get }
}

/// Where a report goes and in which form.
protocol OutputChoice: OutputTarget {
  var format: ReportFormat { get }
  var destination: DestinationOptions { get }
}

/// Where a report that is a table goes and in which form.
struct OutputOptions: OutputFormChoice, OutputChoice {
  @Option(
    name: .customLong("format"),
    help: ArgumentHelp(
      "The form: text, json (see docs/json-schema.md) or csv; without it as the file's name "
        + "says, .json or .csv, else text.", valueName: "form"))
  var chosenFormat: ReportFormat?

  @OptionGroup var destination: DestinationOptions

  var format: ReportFormat { form ?? .text }
}

/// Where a report that is no table goes and in which form.
struct DocumentOutputOptions: OutputFormChoice, OutputChoice {
  @Option(name: .customLong("format"), help: DocumentFormat.help)
  var chosenFormat: DocumentFormat?

  @OptionGroup var destination: DestinationOptions

  var format: ReportFormat { form == .json ? .json : .text }
}

/// Where records go and in which form; numbers have all digits in either.
struct RecordOutputOptions: OutputFormChoice {
  @Option(name: .customLong("format"), help: DocumentFormat.help)
  var chosenFormat: DocumentFormat?

  @OptionGroup var file: OutputFileOption

  var format: DocumentFormat { form ?? .text }

  var output: String? { file.name }
}

/// The file that is written.
struct OutputFileOption: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Write to this file instead of standard output.", valueName: "file"),
    completion: .file())
  var file: String?

  /// Its name; nil for standard output, which `-` means as well.
  var name: String? { file == "-" ? nil : file }
}

/// Where a report goes.
struct DestinationOptions: ParsableArguments {
  @OptionGroup var file: OutputFileOption

  @Flag(help: "Print numbers of bytes with all digits instead of KiB and MiB.")
  var bytes = false
}

extension OutputChoice {
  var output: String? { destination.file.name }

  /// Refuses an option that only the text heeds.
  ///
  /// - Parameters:
  ///   - option: Its name.
  ///   - contents: What the other forms have all the same, in words.
  /// - Throws: `ValidationError` when the form is another.
  func checkIsText(for option: String, otherFormsHave contents: String) throws {
    guard format != .text else { return }
    throw ValidationError("\(option) is about the text; \(format.rawValue) has \(contents).")
  }

  /// The number of rows to show: what was asked for, where 0 means all, else a default.
  ///
  /// - Parameters:
  ///   - asked: The value of `--top`.
  ///   - text: The default for text.
  ///   - data: The default for json and csv; nil for all. Lists that grow with the trace need one:
  ///     a program may well have a million stacks.
  /// - Returns: nil for all.
  func limit(_ asked: Int?, text: Int, data: Int? = nil) -> Int? {
    guard let asked else { return format == .text ? text : data }
    return asked == 0 ? nil : asked
  }
}

/// How many rows a report shows.
struct TopOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show at most so many rows, 0 for all. (default: what suits the report and its form)",
      valueName: "rows"))
  var top: Int?

  mutating func validate() throws {
    if let top, top < 0 { throw ValidationError("--top takes 0 or more rows, not \(top).") }
  }
}

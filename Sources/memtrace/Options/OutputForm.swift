import ArgumentParser
import Symbolication

/// A form of output that the name of the file can tell: a page in `a.html` is no surprise, the lines
/// of another form there are.
protocol OutputForm: CaseIterable, RawRepresentable<String> {
  /// What names of its files end with, behind the dot, in small letters.
  var endings: [String] { get }
}

extension OutputForm {
  var endings: [String] { [rawValue] }
}

extension OutputForm {
  /// The form that a file's name tells.
  ///
  /// - Parameter name: nil for standard output.
  init?(ofFile name: String?) {
    let name = name?.lowercased() ?? ""
    let form = Self.allCases.first { $0.endings.contains { name.hasSuffix(".\($0)") } }
    guard let form else { return nil }
    self = form
  }

  /// Refuses a file whose name promises a form that there is not: no text in `a.svg`.
  ///
  /// - Parameter name: nil for standard output.
  /// - Throws: `ValidationError` with the forms that there are.
  static func check(file name: String?) throws {
    guard let name, Self(ofFile: name) == nil,
      let ending = endingsOfForms.first(where: { name.lowercased().hasSuffix(".\($0)") })
    else { return }
    let forms = NameList.text(allCases.map(\.rawValue))
    throw ValidationError(
      "'\(name)': there is no form \(ending) here; there are \(forms), for --format.")
  }
}

/// What the endings of file names say that is not mere text.
private let endingsOfForms = [
  "json", "csv", "html", "htm", "svg", "png", "pdf", "xml", "sarif", "pb", "pb.gz",
]

/// Options that choose a form, which the name of the file tells where they do not.
protocol OutputFormChoice: ParsableArguments, OutputTarget {
  associatedtype Form: OutputForm
  /// What `--format` says; nil where it is not given.
  var chosenFormat: Form? { get }
}

extension OutputFormChoice {
  /// The form that was chosen, or that the file's name tells; nil where neither says one.
  var form: Form? { chosenFormat ?? Form(ofFile: output) }

  mutating func validate() throws {
    if chosenFormat == nil { try Form.check(file: output) }
  }
}

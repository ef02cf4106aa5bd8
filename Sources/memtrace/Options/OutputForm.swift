/// A form of output that the name of the file can tell: a page in `a.html` is no surprise, the lines
/// of another form there are.
protocol OutputForm: CaseIterable {
  /// What names of its files end with, behind the dot, in small letters.
  var endings: [String] { get }
}

extension OutputForm where Self: RawRepresentable<String> {
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
}

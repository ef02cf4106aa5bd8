import SystemPackage

extension FilePath {
  /// The file that an argument names, byte for byte, or one whose path goes on from there.
  ///
  /// In the text of an argument, which is what the parser hands on, bytes that are no UTF-8 are
  /// replaced.
  init(argument text: String) {
    self = Self.written(text, in: OwnArguments.all.dropFirst()) ?? FilePath(text)
  }

  /// The path with this text that one of some arguments has; nil where the text says it all.
  private static func written(_ text: String, in arguments: some Sequence<CString>) -> FilePath? {
    guard text.contains(replacement) else { return nil }
    let names = arguments.flatMap(possibleNames).filter { $0.text.contains(replacement) }
    if let name = names.first(where: { $0.text == text }) { return name.path }
    let folders = names.map(\.path)
    return folders.first { text.hasPrefix($0.string) }
      .map { $0.goingOn(with: text.dropFirst($0.string.count)) }
  }

  private static let replacement = "\u{fffd}"

  /// The whole argument, and what follows each `=`, as in `--output=json=FILE`.
  private static func possibleNames(_ argument: CString) -> [CString] {
    let bytes = argument.bytes
    return [argument]
      + bytes.indices.filter { bytes[$0] == UInt8(ascii: "=") }
      .map { CString(bytes: Array(bytes[($0 + 1)...])) }
  }

  /// The path that has more text at its end.
  func goingOn(with text: some StringProtocol) -> FilePath {
    CString(bytes: withPlatformString { CString(copying: $0).bytes } + Array(text.utf8)).path
  }
}

import CLaunch

/// What memtrace itself was started with.
enum OwnArguments {
  /// Byte for byte, the name of the program first.
  static let all: [CString] = {
    guard let first = claunch_own_arguments() else { return [] }
    return sequence(first: first) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != nil }
      .compactMap { $0.map { CString(copying: $0) } }
  }()

  /// What follows the name of the program, as the parser takes it.
  static let words: ArraySlice<String> = all.map(\.text).dropFirst()
}

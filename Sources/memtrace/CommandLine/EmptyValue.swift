/// Says what is wrong with `--guard=`: to the parser it is `--guard`, with the value that is meant when
/// there is none.
enum EmptyValue {
  private static let options = ["--zombies", "--redzones", "--guard", "--refcounts"]

  /// - Parameter words: What follows `memtrace`.
  /// - Throws: ``CommandFailure`` for an option whose value is empty.
  static func check(_ words: ArraySlice<String>) throws(CommandFailure) {
    let own = words.prefix { $0 != "--" }
    guard let option = options.first(where: { own.contains($0 + "=") }) else { return }
    throw CommandFailure(
      "\(option)= has no value; give it one, or leave the = out", exitStatus: ExitStatus.usage)
  }
}

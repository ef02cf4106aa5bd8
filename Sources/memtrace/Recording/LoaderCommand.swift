import SystemPackage

/// glibc's loader as a command, which can be told to run a program, or only to look at one.
enum LoaderCommand {
  /// The option by which it runs nothing; nil where it does, or the command is another one.
  ///
  /// - Parameters:
  ///   - executable: The file that is executed.
  ///   - arguments: The arguments, the name of the command first.
  /// - Returns: The first one of its options that lists something.
  static func listingOption(of executable: FilePath, _ arguments: [String]) -> String? {
    let name = executable.lastComponent?.string ?? ""
    guard name.hasPrefix("ld-linux") || name.hasPrefix("ld64.so") || name == "ld.so" else {
      return nil
    }
    var rest = arguments.dropFirst()
    while let option = rest.popFirst(), option.hasPrefix("--") {
      if listing.contains(option) { return option }
      if withValue.contains(option) { _ = rest.popFirst() }
    }
    return nil
  }

  private static let listing: Set<String> = [
    "--list", "--list-tunables", "--list-diagnostics", "--verify",
  ]

  private static let withValue: Set<String> = [
    "--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0",
    "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask",
  ]
}

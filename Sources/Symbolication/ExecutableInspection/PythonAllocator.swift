/// Which allocator Python takes for its objects: one of its own, unless it was told otherwise.
public enum PythonAllocator {
  /// The variable by which it is told.
  public static let variable = "PYTHONMALLOC"

  /// Whether Python takes the C library's allocator for all its objects.
  ///
  /// The debug hooks, which `-X dev` installs as well, change nothing about that.
  ///
  /// - Parameters:
  ///   - setting: The value of ``variable`` when it was started; nil where there was none.
  ///   - arguments: Its arguments, its own name first: some make it look at no variable.
  /// - Returns: Whether each of its objects is a block of `malloc`.
  public static func isMalloc(setting: String?, arguments: [String]) -> Bool {
    guard let setting, ["malloc", "malloc_debug"].contains(setting) else { return false }
    return !ignoresVariables(arguments.dropFirst())
  }

  /// Whether there is a `-E` or `-I` among the options of the interpreter, which end with the script.
  private static func ignoresVariables(_ arguments: ArraySlice<String>) -> Bool {
    var rest = arguments
    while let option = rest.popFirst(), option.hasPrefix("-"), option != "-" {
      if option.hasPrefix("--") {
        guard option == "--check-hash-based-pycs" else { return false }
        rest = rest.dropFirst()
        continue
      }
      for (index, letter) in option.enumerated().dropFirst() {
        if "EI".contains(letter) { return true }
        if "cm".contains(letter) { return false }
        guard "WX".contains(letter) else { continue }
        // The value is the rest of the option, or the next argument.
        if index == option.count - 1 { rest = rest.dropFirst() }
        break
      }
    }
    return false
  }
}

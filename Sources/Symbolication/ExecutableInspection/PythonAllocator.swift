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

  /// Whether a file is the library that has all of Python in it, by its name: `libpython3.11.so.1.0`.
  static func isLibrary(_ path: String) -> Bool {
    let name = lastComponent(of: path)
    return name.hasPrefix("libpython") && name.contains(".so")
  }

  /// Whether a program is Python itself, by its name: `python3.11`.
  static func isInterpreter(_ path: String) -> Bool { lastComponent(of: path).hasPrefix("python") }

  private static func lastComponent(of path: String) -> Substring {
    path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
  }

  /// The allocator in such a library, which it exports; empty where it only leads to another one, as `libpython3.so`.
  static func allocators(inLibrary file: ELFFile) -> [BundledAllocator] {
    var signs = AllocatorSigns()
    signs.read(file)
    return signs.allocators.filter(\.isPython)
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

/// Finds calls of `Unmanaged` in source lines of Swift.
///
/// The compiler always puts their bodies into the functions that call them, so that no frame and no debug
/// information is left that would tell them from what the compiler does by itself.
public enum UnmanagedCalls {
  /// Whether a line retains an object by name: with `Unmanaged.passRetained(object)`, or with `retain()` of one.
  public static func retains(in line: String) -> Bool {
    var scanner = TextScanner(String(nameBytes: AllocationExpression.withoutLiterals(line)))
    while !scanner.isAtEnd {
      let previous = scanner.previous
      if scanner.looksAt("passRetained("), previous.map(TextScanner.isIdentifier) != true {
        return true
      }
      if scanner.looksAt("retain()"), previous == UInt8(ascii: ".") { return true }
      scanner.position += 1
    }
    return false
  }
}

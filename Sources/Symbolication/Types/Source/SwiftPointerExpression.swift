/// Reads the type that a line of Swift asks memory for: `UnsafeMutablePointer<Node>.allocate(capacity: 4)`.
///
/// Code that is not optimized passes the type on as an argument, which no stack tells.
enum SwiftPointerExpression {
  /// The pointer that is got from the only call of `allocate` in a line.
  ///
  /// - Parameter line: One line of source.
  /// - Returns: `UnsafeMutablePointer<Node>`, which may also be the type of what the pointer is put in; nil where the line
  ///   names none or several, and where the memory is of no type.
  static func pointer(in line: String) -> String? {
    // Most lines that are asked have none.
    guard TextSearch.holds(line, ".allocate(") else { return nil }
    var scanner = TextScanner(String(nameBytes: AllocationExpression.withoutLiterals(line)))
    var calls = 0
    var pointers: Set<String> = []
    while !scanner.isAtEnd {
      let start = scanner.position
      if scanner.skip(".allocate(capacity:") {
        calls += 1
      } else if scanner.looksAt(".allocate(") {
        return nil
      } else if let pointer = takePointer(&scanner) {
        pointers.insert(pointer)
      } else if scanner.position == start {
        scanner.position += 1
      }
    }
    return calls == 1 && pointers.count == 1 ? pointers.first : nil
  }

  /// Goes past a name, and takes it with its arguments where it is that of a pointer that memory is got for.
  private static func takePointer(_ scanner: inout TextScanner) -> String? {
    let start = scanner.position
    guard scanner.skipName() else { return nil }
    let name = scanner.bytes[start..<scanner.position]
    guard names.contains(where: { name.elementsEqual($0.utf8) }),
      scanner.current == UInt8(ascii: "<")
    else { return nil }
    _ = scanner.skipGroup()
    return String(nameBytes: scanner.bytes[start..<scanner.position])
  }

  private static let names = ["UnsafeMutablePointer", "UnsafeMutableBufferPointer"]
}

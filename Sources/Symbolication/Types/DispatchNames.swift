/// Names of the objects of libdispatch, which begin with a table of their class.
enum DispatchNames {
  /// The name that Instruments has for the objects of a class: `OS_dispatch_queue_serial`.
  ///
  /// - Parameter symbol: That of the table, `__OS_dispatch_queue_serial_vtable`.
  /// - Returns: nil for anything else.
  static func ofVTable(_ symbol: String) -> TypeName? {
    let (start, end) = ("__OS_dispatch_", "_vtable")
    guard symbol.hasPrefix(start), symbol.hasSuffix(end),
      symbol.utf8.count > start.utf8.count + end.utf8.count
    else { return nil }
    let name = String(symbol.dropFirst(2).dropLast(end.count))
    return TypeName(short: name, full: name, language: .c)
  }
}

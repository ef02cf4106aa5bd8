/// Names of what libdispatch allocates: of objects, which begin with a table of their class, and of records of work.
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

  /// The name of what a stack allocated, where nothing in it tells.
  ///
  /// Work that is queued takes such a record of a thread's cache, whoever made it: its stack tells who needed one when
  /// the cache was empty, not whose it is.
  ///
  /// - Parameters:
  ///   - frames: The frames of runtimes that the stack begins with, leaf first, inlined ones included.
  ///   - caller: The frame behind them; nil without one.
  /// - Returns: nil where it was nothing like that.
  static func ofRecord(
    _ frames: [SymbolicatedFrame], calledBy caller: SymbolicatedFrame?
  ) -> TypeName? {
    let functions = frames.lazy.compactMap(\.function)
    let function = functions.first { !RuntimeNames.isAllocator($0) } ?? caller?.function
    return function?.base == "_dispatch_continuation_alloc_from_heap" ? continuation : nil
  }

  private static let continuation = TypeName(
    short: "Dispatch continuation", full: "Dispatch continuation", language: .c)
}

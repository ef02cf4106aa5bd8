/// The parts into which GCC takes a coroutine of C++: one resumes it, one destroys its frame.
///
/// ```
/// _Z3runP Z3runvE 12_Z3runv.Frame.actor    run(run()::_Z3runv.Frame*) [clone .actor]
/// ```
/// Their parameter is the frame, a structure in the coroutine that is called by the coroutine's own symbol.
enum CoroutineNames {
  /// The symbol of the coroutine that a function is a part of; nil for all others.
  static func coroutine(ofPart symbol: String) -> String? {
    guard TextSearch.holds(symbol, ".Frame."),
      let part = parts.lazy.compactMap({ symbol.firstRange(of: $0) }).first
    else { return nil }
    let frame = symbol[..<part.lowerBound] + structure
    let bytes = Array(frame.utf8)
    for start in bytes.indices.dropLast().reversed()
    where bytes[start] == UInt8(ascii: "_") && bytes[start + 1] == UInt8(ascii: "Z") {
      let length = Array(String(bytes.count - start).utf8)
      guard bytes[..<start].suffix(length.count).elementsEqual(length) else { continue }
      return String(nameBytes: bytes[start...].dropLast(structure.utf8.count))
    }
    return nil
  }

  private static let structure = ".Frame"
  private static let parts = [".Frame.actor", ".Frame.destroy"]
}

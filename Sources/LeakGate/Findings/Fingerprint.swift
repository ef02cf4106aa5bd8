import Reports

/// What identifies a finding across runs, builds and unrelated edits.
///
/// It is made of the kind, the type and the names of the program's own functions on the stack: no
/// line, no address, no offset, no number of a closure or of a compiler's clone, no generic
/// argument, no version of a library.
public enum Fingerprint {
  /// So many of the program's frames count: what calls them from farther out rarely tells findings
  /// apart, and often changes.
  static let frameLimit = 16

  /// The fingerprint of a finding.
  ///
  /// - Parameters:
  ///   - kind: What was found.
  ///   - what: The type of the blocks or the call.
  ///   - frames: The stack, leaf first.
  /// - Returns: 16 hexadecimal digits.
  public static func of(_ kind: FindingKind, what: String, frames: [ReportFrame]) -> String {
    var names = NormalisedNames()
    return of(kind, what: what, frames: frames, &names)
  }

  /// The same, with names that are known from other findings.
  static func of(
    _ kind: FindingKind, what: String, frames: [ReportFrame], _ names: inout NormalisedNames
  ) -> String {
    var hash = FNV1a()
    hash.add(kind.ruleID)
    hash.add(names.name(what))
    for line in names.names(frames) { hash.add(line) }
    return hash.text
  }
}

/// The hash of Fowler, Noll and Vo, 64 bits: short, stable and the same everywhere; nobody gains by
/// a collision here.
struct FNV1a {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Adds a text and its end.
  mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
    add(0)
  }

  private mutating func add(_ byte: UInt8) {
    state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// 16 hexadecimal digits.
  var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

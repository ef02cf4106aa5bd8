import CLibDW

/// The protocols of Swift that an ELF file defines, and how large their values are.
///
/// ```
/// protocol descriptor    +0 flags  +4 parent (relative)  +8 name (relative)
/// any P                  three words for a value, its metadata, a witness table
/// any P of classes       the object, a witness table
/// ```
/// Source: `ProtocolContextDescriptorFlags` in `include/swift/ABI/MetadataValues.h` of the Swift
/// repository.
enum SwiftProtocols {
  /// What lies in each element of an array of `any P`, by the names of the protocols.
  ///
  /// A name that several have, those of different files for example, is left out.
  static func elements(_ file: ELFFile, _ contents: ELFContents) -> [String: SwiftElements] {
    guard let section = file.section(named: "swift5_protocols") else { return [:] }
    var found: [String: SwiftElements?] = [:]
    for number in 0..<min(section.sh_size / 4, mostProtocols) {
      guard let descriptor = contents.relative(at: section.sh_addr &+ number &* 4),
        let flags = contents.integer(UInt32.self, at: descriptor), flags & 0x1f == 3,
        let name = contents.swiftPath(of: descriptor)
      else { continue }
      let elements =
        flags & isOfAnyType == 0
        ? SwiftElements(stride: 16)
        : SwiftElements(stride: 40, fields: [SwiftElements.value(.existential)])
      found[name] = found[name] == nil ? .some(elements) : .some(nil)
    }
    return found.compactMapValues { $0 }
  }

  /// Bit 16: not only classes may conform.
  private static let isOfAnyType: UInt32 = 1 << 16
  /// No file has more; only a damaged one says so.
  private static let mostProtocols: UInt64 = 1 << 16
}

import CLibDW

/// The generic structures and enums of Swift that an ELF file defines.
///
/// ```
/// swift5_type_metadata    descriptors (relative, of this file where the lowest two bits are 0)
/// ```
/// Source: `TypeMetadataRecord` in `include/swift/ABI/Metadata.h` of the Swift repository.
enum SwiftGenericTypes {
  /// The descriptors by the names of their types, `app.Unowned`.
  ///
  /// A name that several types have, those of different files for example, is left out.
  static func descriptors(_ file: ELFFile, _ contents: ELFContents) -> [String: UInt64] {
    guard let section = file.section(named: "swift5_type_metadata") else { return [:] }
    var found: [String: UInt64?] = [:]
    for number in 0..<min(section.sh_size / 4, mostTypes) {
      guard let descriptor = contents.relative(at: section.sh_addr &+ number &* 4),
        descriptor & 3 == 0, let flags = contents.integer(UInt32.self, at: descriptor),
        flags & isGeneric != 0, flags & 0x1f == 17 || flags & 0x1f == 18,
        let name = contents.swiftPath(of: descriptor)
      else { continue }
      found[name] = found[name] == nil ? .some(descriptor) : .some(nil)
    }
    return found.compactMapValues { $0 }
  }

  /// The name that a type has without its arguments; nil for one that is in a generic type, and for others.
  static func name(of type: String) -> String? {
    guard case .named(let name, let arguments) = SwiftTypeParts(type[...]).form,
      !arguments.isEmpty, type.firstRange(of: ">.") == nil
    else { return nil }
    return String(name)
  }

  /// Of the flags of a descriptor.
  static let isGeneric: UInt32 = 0x80
  /// No file has more; only a damaged one says so.
  private static let mostTypes: UInt64 = 1 << 20
}

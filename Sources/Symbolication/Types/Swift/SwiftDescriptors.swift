import CLibDW

/// The descriptors that a section of an ELF file lists.
///
/// ```
/// section       descriptors (relative, of this file where the lowest two bits are 0)
/// descriptor    +0 flags (kind in the lowest five bits)  +4 parent (relative)  +8 name (relative)
/// ```
/// Source: `TypeMetadataRecord` and `ContextDescriptorFlags` in `include/swift/ABI/Metadata.h` and
/// `MetadataValues.h` of the Swift repository.
enum SwiftDescriptors {
  /// What is known of them, by their names.
  ///
  /// A name that several have, those of different files for example, is left out.
  ///
  /// - Parameters:
  ///   - section: The name of what lists them.
  ///   - file: The file.
  ///   - contents: Reads it by address.
  ///   - most: More of them only a damaged file has.
  ///   - value: What is known of one, by its ELF address and flags; nil leaves it out.
  /// - Returns: None where the file has no such section.
  static func byName<Value>(
    in section: String, of file: ELFFile, _ contents: ELFContents, most: UInt64,
    _ value: (UInt64, UInt32) -> Value?
  ) -> [String: Value] {
    guard let section = file.section(named: section) else { return [:] }
    var found: [String: Value?] = [:]
    for number in 0..<min(section.sh_size / 4, most) {
      guard let descriptor = contents.relative(at: section.sh_addr &+ number &* 4),
        descriptor & 3 == 0, let flags = contents.integer(UInt32.self, at: descriptor),
        let value = value(descriptor, flags), let name = contents.swiftPath(of: descriptor)
      else { continue }
      found[name] = found[name] == nil ? .some(value) : .some(nil)
    }
    return found.compactMapValues { $0 }
  }
}

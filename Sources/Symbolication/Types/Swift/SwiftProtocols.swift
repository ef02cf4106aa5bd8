/// The protocols of Swift that an ELF file defines, and how large their values are.
///
/// ```
/// any P                  three words for a value, its metadata, a witness table
/// any P of classes       the object, a witness table
/// ```
/// Source: `ProtocolContextDescriptorFlags` in `include/swift/ABI/MetadataValues.h` of the Swift
/// repository.
enum SwiftProtocols {
  /// What lies in each element of an array of `any P`, by the names of the protocols.
  static func elements(_ file: ELFFile, _ contents: ELFContents) -> [String: SwiftElements] {
    SwiftDescriptors.byName(in: "swift5_protocols", of: file, contents, most: 1 << 16) {
      guard $1 & 0x1f == 3 else { return nil }
      return $1 & isOfAnyType == 0
        ? SwiftElements(stride: 16, fields: SwiftElements.ofObjects)
        : SwiftElements(stride: 40, fields: SwiftElements.ofAnyType)
    }
  }

  /// Bit 16: not only classes may conform.
  private static let isOfAnyType: UInt32 = 1 << 16
}

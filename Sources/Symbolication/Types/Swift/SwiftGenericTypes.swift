/// The generic structures and enums of Swift that an ELF file defines.
enum SwiftGenericTypes {
  /// The descriptors by the names of their types, `app.Unowned`.
  static func descriptors(_ file: ELFFile, _ contents: ELFContents) -> [String: UInt64] {
    SwiftDescriptors.byName(in: "swift5_type_metadata", of: file, contents, most: 1 << 20) {
      let kind = $1 & 0x1f
      return $1 & isGeneric != 0 && (kind == 17 || kind == 18) ? $0 : nil
    }
  }

  /// The name that a type has without its arguments, and those of types that it is in; nil for one that has none.
  static func name(of type: String) -> String? {
    guard case .named(let name, let arguments) = SwiftTypeParts(type[...]).form,
      !arguments.isEmpty
    else { return nil }
    return String(name)
  }

  /// Of the flags of a descriptor.
  static let isGeneric: UInt32 = 0x80
}

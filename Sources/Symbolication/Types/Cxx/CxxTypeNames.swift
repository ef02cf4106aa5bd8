/// Names of C++ types from what is in the program: names of type_infos, symbols of vtables.
enum CxxTypeNames {
  /// The name of a class.
  ///
  /// - Parameter mangled: As in its `type_info`: `N3geo6CircleE`.
  /// - Returns: nil when it is no mangled name.
  static func ofClass(_ mangled: String) -> TypeName? {
    name(ofSymbol: "_ZTS" + mangled, prefix: "typeinfo name for ")
  }

  /// The name of the class that a vtable belongs to.
  ///
  /// - Parameter symbol: `_ZTVN3geo6CircleE`.
  /// - Returns: nil when it is no vtable's symbol.
  static func ofVTable(_ symbol: String) -> TypeName? {
    guard symbol.hasPrefix("_ZTV") else { return nil }
    return name(ofSymbol: symbol, prefix: "vtable for ")
  }

  /// The name of the type that a `type_info` describes.
  ///
  /// - Parameter symbol: `_ZTIN3geo6CircleE`.
  /// - Returns: nil when it is no such symbol.
  static func ofTypeInfo(_ symbol: String) -> TypeName? {
    guard symbol.hasPrefix("_ZTI") else { return nil }
    return name(ofSymbol: symbol, prefix: "typeinfo for ")
  }

  private static func name(ofSymbol symbol: String, prefix: String) -> TypeName? {
    let name = Demangler.name(of: symbol)
    guard name.full.hasPrefix(prefix) else { return nil }
    let full = String(name.full.dropFirst(prefix.count))
    return TypeName(short: CxxNames.short(full), full: full, language: .cxx)
  }
}

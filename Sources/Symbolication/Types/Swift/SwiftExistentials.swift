/// How large values of several protocols are, optional ones of protocols, and those of the standard library's.
///
/// ```
/// any P & Q               three words for a value, its metadata, a witness table for each protocol
/// any P & Q of classes    the object, a witness table for each protocol
/// ```
/// One protocol of classes, a class or `AnyObject` among them makes it a value of classes.
enum SwiftExistentials {
  /// What the values of a type conform to or inherit from, without protocols that have no witness table.
  ///
  /// - Returns: nil for a type that is neither optional nor of several protocols or one of the standard library.
  static func constraints(_ name: String) -> [String]? {
    var content = name[...]
    var isOptional = false
    if case .named("Swift.Optional", let arguments) = SwiftTypeParts(content).form {
      guard let argument = arguments.first else { return nil }
      (content, isOptional) = (argument, true)
    }
    let parts = String(content).split(separator: " & ").map(String.init)
    guard isOptional || parts.count > 1 || standard.contains(name),
      !parts.contains(where: isCompound)
    else { return nil }
    return parts.filter { !markers.contains($0) }
  }

  /// What lies in each element of an array of such values.
  ///
  /// - Parameters:
  ///   - name: The whole name of the type.
  ///   - isReference: Whether a type is a class of the program.
  ///   - elements: What lies in an array of one of the protocols.
  /// - Returns: nil for other types, and where one of the protocols is not known.
  static func elements(
    _ name: String, isReference: (String) -> Bool, elements: (String) -> SwiftElements?
  ) -> SwiftElements? {
    guard let constraints = constraints(name), !constraints.isEmpty else { return nil }
    var isOfClasses = false
    var tables: UInt64 = 0
    for constraint in constraints {
      if constraint == "Swift.AnyObject" || isReference(constraint) {
        isOfClasses = true
        continue
      }
      tables += 1
      if standard.contains(constraint) { continue }
      guard let alone = elements(constraint) else { return nil }
      if alone.fields == SwiftElements.ofAnyType { continue }
      // Alone, the name could be that of a structure or an enum.
      guard alone.fields == SwiftElements.ofObjects, alone.stride == 16 else { return nil }
      isOfClasses = true
    }
    return isOfClasses
      ? SwiftElements(stride: 8 + 8 * tables, fields: SwiftElements.ofObjects)
      : SwiftElements(stride: 32 + 8 * tables, fields: SwiftElements.ofAnyType)
  }

  private static func isCompound(_ name: String) -> Bool {
    name.contains { "<>()".contains($0) }
  }

  private static let markers: Set<String> = [
    "Swift.Sendable", "Swift.SendableMetatype", "Swift.Copyable", "Swift.Escapable",
    "Swift.BitwiseCopyable",
  ]

  /// Protocols of the standard library to which values of any type may conform.
  private static let standard: Set<String> = [
    "Swift.Hashable", "Swift.Equatable", "Swift.Comparable", "Swift.Encodable", "Swift.Decodable",
    "Swift.CodingKey", "Swift.CustomStringConvertible", "Swift.CustomDebugStringConvertible",
    "Swift.Identifiable", "Swift.Sequence", "Swift.Collection", "Swift.Numeric",
    "Swift.BinaryInteger", "Swift.StringProtocol",
  ]
}

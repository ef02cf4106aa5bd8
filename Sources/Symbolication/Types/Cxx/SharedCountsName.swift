/// What the mangled name of a class tells that counts the owners of objects of `std::shared_ptr`.
public enum SharedCountsName {
  /// Whether such a class has nothing else behind its counts than the object, or its address.
  ///
  /// What deletes an object, or has allocated it, may hold something else until the last `std::weak_ptr` is gone;
  /// `std::allocator` and `std::default_delete` are empty.
  ///
  /// - Parameter name: The mangled name of a class, as its type information has it.
  /// - Returns: nil for other classes.
  public static func isOnlyForObject(_ name: String) -> Bool? {
    guard let family = families.first(where: { name.hasPrefix($0.prefix) }) else { return nil }
    let rest = withoutSubstitutes(withoutLockPolicy(name))
    return family.endings.contains(where: rest.hasSuffix)
  }

  /// Of libstdc++, libc++ and Boost.
  private static let families: [(prefix: String, endings: [String])] = [
    ("St15_Sp_counted_ptrI", [""]),
    ("St23_Sp_counted_ptr_inplaceI", ["SaIvE", "SaIS_E"]),
    ("St19_Sp_counted_deleterI", ["St14default_deleteIS_ESaIvE", "St17__sp_array_deleteSaIvE"]),
    ("NSt3__120__shared_ptr_emplaceI", ["NS_9allocatorIS_EEEE"]),
    (
      "NSt3__120__shared_ptr_pointerI",
      ["27__shared_ptr_default_deleteIS_S_EENS_9allocatorIS_EEEE"]
    ),
    ("N5boost6detail17sp_counted_impl_pI", [""]),
    ("N5boost6detail18sp_counted_impl_pdI", ["NS_13sp_ms_deleterIS_EEEE"]),
  ]

  /// `…LN9__gnu_cxx12_Lock_policyE2EE` tells how the counts of libstdc++ are changed.
  private static func withoutLockPolicy(_ name: String) -> Substring {
    guard let policy = name.firstRange(of: "LN9__gnu_cxx12_Lock_policyE") else { return name[...] }
    return name[..<policy.lowerBound]
  }

  /// `S1_`, `S2_` and so on mean what was named before: `S_`.
  private static func withoutSubstitutes(_ name: Substring) -> String {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false).map { part in
      let end = part.reversed().prefix { $0.isNumber || $0.isUppercase }
      let number = end.prefix { $0 != "S" }
      return number.count < end.count ? part.dropLast(number.count) : part
    }
    return parts.joined(separator: "_")
  }
}

extension SnapshotMemory {
  /// The class of the instance of GObject in a block.
  ///
  /// An instance begins with the address of its class. Its private data, where it has some, lies in
  /// front of it in the same block: `g_type_create_instance` in `gobject/gtype.c` of GLib.
  ///
  /// - Parameters:
  ///   - address: The beginning of the block.
  ///   - size: Its requested bytes.
  /// - Returns: The name of the class; nil where the block holds no instance of a known class.
  public func gobjectClass(ofBlockAt address: UInt64, size: UInt64) -> String? {
    guard !gobjectClasses.isEmpty, size >= Self.leastInstance else { return nil }
    if let name = gobjectClasses[word(at: address)] { return name }
    let (last, overflows) = address.addingReportingOverflow(
      min(size - Self.leastInstance, Self.greatestPrivateSize))
    guard !overflows, last < .max else { return nil }
    var name: String?
    forEachWord(in: address..<last &+ 1) { position, value in
      guard name == nil, (position &- address) & 15 == 0, isGObject(at: position) else { return }
      name = gobjectClasses[value]
    }
    return name
  }

  /// Whether a counted instance of a known class begins at an address: behind its class it has a
  /// number of references, which is no address.
  public func isGObject(at address: UInt64) -> Bool {
    guard !gobjectClasses.isEmpty, gobjectClasses[word(at: address)] != nil else { return false }
    let count = word(at: address &+ 8)
    return count == 0 || !isMapped(count)
  }

  /// `GObject`: class, number of references, data.
  private static let leastInstance: UInt64 = 24
  /// `private_size` has 16 bits.
  private static let greatestPrivateSize: UInt64 = 1 << 16
}

extension SnapshotMemory {
  /// The class of the Python object in a block.
  ///
  /// - Parameters:
  ///   - address: The beginning of the block.
  ///   - size: Its requested bytes.
  /// - Returns: The name of the class; nil where the block is no object of a known class.
  public func pythonClass(ofBlockAt address: UInt64, size: UInt64) -> String? {
    pythonObject(inBlockAt: address, size: size)?.className
  }

  /// The Python object in a block.
  ///
  /// An object is a reference count and the address of its class; those that the garbage collector
  /// knows have its two links before that, and since Python 3.11 perhaps two more words.
  ///
  /// - Parameters:
  ///   - address: The beginning of the block.
  ///   - size: Its requested bytes.
  /// - Returns: Where in the block the object begins, in bytes, and its class; nil where the block is
  ///   no object of a known class.
  public func pythonObject(
    inBlockAt address: UInt64, size: UInt64
  ) -> (offset: UInt64, className: String)? {
    guard !pythonClasses.isEmpty else { return nil }
    for offset in Self.classOffsets where offset + 8 <= size {
      guard let name = pythonClasses[word(at: address &+ offset)],
        // A pointer instead of a count: an array of objects, with a class among them.
        isCount(word(at: address &+ offset &- 8)), hasLinks(before: offset, ofBlockAt: address)
      else { continue }
      return (offset - 8, name)
    }
    return nil
  }

  /// Whether a block is a Python object whose references nobody counts: it is never freed.
  ///
  /// The count says so: of other objects snapshots do not keep it.
  /// Source: `_Py_IMMORTAL_REFCNT` in `Include/object.h` of CPython 3.12.
  ///
  /// - Parameters:
  ///   - address: The beginning of the block.
  ///   - size: Its requested bytes.
  /// - Returns: Whether it is one; false for whatever is no object of a known class.
  public func isImmortalPythonObject(inBlockAt address: UInt64, size: UInt64) -> Bool {
    guard let object = pythonObject(inBlockAt: address, size: size) else { return false }
    return word(at: address &+ object.offset) == UInt64(UInt32.max)
  }

  /// Whether links of a list of the garbage collector lie at an address: the ones in front of and behind them lead
  /// back.
  ///
  /// Source: `PyGC_Head` in `Include/internal/pycore_gc.h` of CPython.
  public func isCollectorLink(at address: UInt64) -> Bool {
    let next = word(at: address) & ~Self.collectorFlags
    let previous = word(at: address &+ 8) & ~Self.collectorFlags
    return next != 0 && previous != 0 && next != address
      && word(at: next &+ 8) & ~Self.collectorFlags == address
      && word(at: previous) & ~Self.collectorFlags == address
  }

  /// The bits of links in which the collector keeps something else.
  public static let collectorFlags: UInt64 = 3

  private func isCount(_ word: UInt64) -> Bool {
    word < Self.greatestCount && (word == 0 || !isMapped(word))
  }

  /// Whether the collector's links are where they would be: none in plain objects and in those that
  /// it does not follow, tables of dictionaries aside, which look like objects without any.
  private func hasLinks(before offset: UInt64, ofBlockAt address: UInt64) -> Bool {
    guard offset > 8 else { return true }
    let links = [24, 16].map { word(at: address &+ offset &- $0) & ~Self.collectorFlags }
    if offset == 24, links == [0, 0] { return true }
    return links.allSatisfy { $0 != 0 && isMapped($0) }
  }

  private static let classOffsets: [UInt64] = [8, 24, 40]
  private static let greatestCount: UInt64 = 1 << 33
}

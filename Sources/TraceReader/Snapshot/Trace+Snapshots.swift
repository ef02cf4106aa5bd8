import CTraceFormat

extension Trace {
  /// Reads the memory of a snapshot.
  ///
  /// - Parameter index: Its position in ``snapshots``.
  /// - Returns: The words that are kept; what could not be read is missing, see
  ///   ``SnapshotMemory/damagedRuns``, and what there is no memory for, see ``SnapshotMemory/exceedsMemory``.
  /// - Throws: `.inconsistent` when there is no such snapshot, `.io` when the file cannot be read.
  public func loadSnapshot(_ index: Int) throws(TraceError) -> SnapshotMemory {
    guard snapshots.indices.contains(index) else {
      throw TraceError(
        .inconsistent, "has no snapshot \(index) (it has \(snapshots.count))", path: path.string)
    }
    // A word takes a byte at least.
    let stored = snapshotWords[index].reduce(into: 0) { $0 += $1.length }
    var decoder = SnapshotWordDecoder(
      regions: snapshots[index].regions,
      expectedCount: min(Int(clamping: snapshots[index].wordCount), stored))
    for chunk in snapshotWords[index] where !decoder.memory.exceedsMemory {
      var bytes = try words(of: chunk)
      let isKept = bytes.withUnsafeBytes { $0.isKept(chunk.header) }
      if bytes.count < chunk.length || !isKept { decoder.noteDamage() }
      bytes.append(contentsOf: repeatElement(0, count: SnapshotWordDecoder.guardLength))
      bytes.withUnsafeBytes { decoder.decode($0) }
    }
    var memory = decoder.memory
    memory.pythonClasses = snapshots[index].pythonClasses
    memory.gobjectClasses = snapshots[index].gobjectClasses
    memory.taskSlab = snapshots[index].taskSlab
    return memory
  }

  /// The bytes of a chunk of words, as far as they can be read: none in a damaged packed frame.
  private func words(of chunk: SnapshotDecoder.WordChunk) throws(TraceError) -> [UInt8] {
    do throws(TraceError) {
      return try file.bytes(at: chunk.offset, count: chunk.length)
    } catch {
      guard error.status == .corrupt else { throw error }
      return []
    }
  }
}

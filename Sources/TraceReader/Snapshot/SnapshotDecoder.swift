import CTraceFormat

/// Collects the records of SNAPSHOT chunks, and where the words are.
struct SnapshotDecoder {
  /// A chunk of words.
  struct WordChunk {
    var header: ChunkHeader
    var offset: UInt64 { header.offset }
    var length: Int { Int(header.length) }
  }

  private struct Draft {
    var info = SnapshotInfo()
    var hasBegun = false
    var words: [WordChunk] = []
  }

  private var drafts: [UInt32: Draft] = [:]

  /// Notes a chunk of words, which is read when the snapshot is.
  mutating func add(_ chunk: WordChunk, snapshot: UInt32) {
    drafts[snapshot, default: Draft()].words.append(chunk)
    drafts[snapshot]?.info.storedBytes &+= UInt64(chunk.length)
  }

  /// Decodes the records of a chunk.
  ///
  /// - Parameters:
  ///   - chunk: The bytes with the chunk header; fewer when the file is cut.
  ///   - snapshot: The number of the snapshot.
  /// - Returns: Where decoding had to stop, when it was not at the end of the records.
  mutating func decode(_ chunk: UnsafeRawBufferPointer, snapshot: UInt32) -> Int? {
    var draft = drafts.removeValue(forKey: snapshot) ?? Draft()
    defer { drafts[snapshot] = draft }
    draft.info.storedBytes &+= UInt64(chunk.count)
    var position = ChunkHeader.size
    while position < chunk.count {
      var cursor = ByteCursor(chunk, at: position)
      let length = Int(cursor.read(UInt32.self))
      let type = UInt32(cursor.read(UInt16.self))
      cursor.skip(2)
      if cursor.isPastEnd { return nil }
      if type == 0 { return chunk.isEndOfRecords(at: position) ? nil : position }
      guard length >= 8, length <= chunk.count - position else { return position }
      var record = ByteCursor(
        UnsafeRawBufferPointer(rebasing: chunk[position..<position + length]), at: 8)
      Self.decode(&record, type: type, into: &draft)
      guard !record.isPastEnd else { return position }
      position += (length + 7) & ~7
    }
    return nil
  }

  private static func decode(_ cursor: inout ByteCursor, type: UInt32, into draft: inout Draft) {
    switch type {
    case MT_SNAPSHOT_BEGIN.rawValue:
      decodeBegin(&cursor, into: &draft.info)
      draft.hasBegun = !cursor.isPastEnd
    case MT_SNAPSHOT_THREAD.rawValue: decodeThread(&cursor, into: &draft.info)
    case MT_SNAPSHOT_REGION.rawValue: decodeRegion(&cursor, into: &draft.info)
    case MT_SNAPSHOT_END.rawValue: decodeEnd(&cursor, into: &draft.info)
    case MT_SNAPSHOT_CLASS.rawValue: decodeClass(&cursor, into: &draft.info)
    case MT_SNAPSHOT_SIGNAL_STACK.rawValue: decodeSignalStack(&cursor, into: &draft.info)
    case MT_SNAPSHOT_KERNEL.rawValue: decodeKernelWord(&cursor, into: &draft.info)
    default: break
    }
  }

  private static func decodeBegin(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    info.time = EventTime(cursor.read())
    let reason: UInt32 = cursor.read()
    let detail: Int32 = cursor.read()
    info.thread = cursor.read()
    cursor.skip(4)
    info.keepsContents = cursor.read(UInt32.self) & MT_SNAPSHOT_CONTENTS.rawValue != 0
    let nameLength: UInt32 = cursor.read()
    info.reason = SnapshotReason(code: reason, detail: detail, name: cursor.text(nameLength))
  }

  private static func decodeThread(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    let (sp, pc, tlsBase): (UInt64, UInt64, UInt64) = (cursor.read(), cursor.read(), cursor.read())
    let (thread, tid, state): (UInt32, UInt32, UInt32) = (
      cursor.read(), cursor.read(), cursor.read()
    )
    let count: UInt32 = cursor.read()
    // Checked before the loop: the record cannot hold more.
    let (byteCount, overflows) = count.multipliedReportingOverflow(by: 8)
    let bytes = cursor.bytes(overflows ? .max : byteCount)
    guard !cursor.isPastEnd else { return }
    var words = ByteCursor(bytes)
    info.threads.append(
      SnapshotThread(
        thread: thread, tid: tid, state: SnapshotThread.State(code: state), sp: sp, pc: pc,
        registers: (0..<count).map { _ in words.read() }, tlsBase: tlsBase))
  }

  /// Goes with the thread whose record it follows.
  private static func decodeSignalStack(
    _ cursor: inout ByteCursor, into info: inout SnapshotInfo
  ) {
    let (start, size): (UInt64, UInt64) = (cursor.read(), cursor.read())
    cursor.skip(4)
    let tid: UInt32 = cursor.read()
    let (end, overflows) = start.addingReportingOverflow(size)
    guard !cursor.isPastEnd, !overflows, let last = info.threads.indices.last,
      info.threads[last].tid == tid
    else { return }
    info.threads[last].signalStack = start < end ? start..<end : nil
  }

  private static func decodeKernelWord(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    let value: UInt64 = cursor.read()
    let (kind, number): (UInt32, UInt32) = (cursor.read(), cursor.read())
    guard !cursor.isPastEnd else { return }
    info.kernelWords.append(KernelWord(kind: kind, number: number, value: value))
  }

  private static func decodeRegion(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    let (start, end): (UInt64, UInt64) = (cursor.read(), cursor.read())
    cursor.skip(8)
    let (protection, flags): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let pathLength: UInt32 = cursor.read()
    cursor.skip(4)
    let path = cursor.text(pathLength)
    guard !cursor.isPastEnd, start < end else { return }
    info.regions.append(
      SnapshotRegion(
        start: start, end: end,
        kind: flags & MT_SNAPSHOT_OWN.rawValue != 0 ? .recorder : .anonymous,
        protection: SnapshotRegion.Protection(rawValue: protection),
        isShared: flags & MT_SNAPSHOT_SHARED.rawValue != 0,
        isKept: flags & MT_SNAPSHOT_KEPT.rawValue != 0, path: path.isEmpty ? nil : path))
  }

  private static func decodeClass(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    let address: UInt64 = cursor.read()
    let (kind, nameLength): (UInt32, UInt32) = (cursor.read(), cursor.read())
    let name = cursor.text(nameLength)
    guard !cursor.isPastEnd, address != 0 else { return }
    switch kind {
    case MT_SNAPSHOT_PYTHON_CLASS.rawValue: info.pythonClasses[address] = name
    case MT_SNAPSHOT_GOBJECT_CLASS.rawValue: info.gobjectClasses[address] = name
    case MT_SNAPSHOT_SWIFT_SLAB.rawValue: info.taskSlab = address
    case MT_SNAPSHOT_DISPATCH.rawValue:
      (info.dispatchModule, info.dispatchOffset) = (address & 0xffff_ffff, address >> 32)
    default: break
    }
  }

  private static func decodeEnd(_ cursor: inout ByteCursor, into info: inout SnapshotInfo) {
    info.pauseNanoseconds = cursor.read()
    info.forkNanoseconds = cursor.read()
    info.durationNanoseconds = cursor.read()
    info.scannedBytes = cursor.read()
    info.wordCount = cursor.read()
    cursor.skip(8)
    info.skippedBytes = cursor.read()
    info.isComplete = !cursor.isPastEnd
  }

  /// The snapshots that have begun, in order, and the chunks of words of each.
  func snapshots(images: ImageMap) -> [(info: SnapshotInfo, words: [WordChunk])] {
    let begun = drafts.filter(\.value.hasBegun).sorted { $0.key < $1.key }.map(\.value)
    return begun.enumerated().map { index, draft in
      var info = draft.info
      info.index = index
      info.classifyRegions(images: images)
      return (info, draft.words.sorted { $0.offset < $1.offset })
    }
  }
}

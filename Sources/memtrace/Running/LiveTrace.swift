import CTraceFormat
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// A trace that its process is writing, opened to add to it.
///
/// The header is mapped as the recorder has it mapped, so that both take room in the file and
/// numbers of chunks from the same counters.
final class LiveTrace {
  let path: FilePath
  private let file: FileDescriptor
  private let header: UnsafeMutablePointer<mt_file_header>

  /// - Throws: ``CommandFailure`` when the file may not be written.
  init(path: FilePath) throws(CommandFailure) {
    self.path = path
    do {
      file = try FileDescriptor.open(path, .readWrite, options: .closeOnExec)
    } catch {
      throw CommandFailure("\(path) cannot be added to: \(error)", exitStatus: ExitStatus.noTrace)
    }
    let size = MemoryLayout<mt_file_header>.size
    let mapping = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
    guard let mapping, mapping != MAP_FAILED else {
      let error = Errno(rawValue: errno)
      try? file.close()
      throw CommandFailure("\(path) cannot be mapped: \(error)", exitStatus: ExitStatus.ioError)
    }
    header = mapping.bindMemory(to: mt_file_header.self, capacity: 1)
    FileSizeLimit.letWritesFail()
  }

  deinit {
    munmap(header, MemoryLayout<mt_file_header>.size)
    try? file.close()
  }

  /// Adds a mark for this moment.
  ///
  /// - Returns: Its event time.
  /// - Throws: ``CommandFailure`` when it cannot be written.
  func addMark(_ name: String) throws(CommandFailure) -> EventTime {
    let time = mt_live_event_time(header)
    let name = Array(name.utf8)
    let fixed = MemoryLayout<mt_mark_record>.size
    var record = mt_mark_record()
    record.record.length = UInt32(fixed + name.count)
    record.record.type = UInt16(MT_RECORD_MARK.rawValue)
    record.time = time
    record.name_length = UInt32(name.count)
    try append(
      kind: MT_CHUNK_META, time: time, content: withUnsafeBytes(of: record, Array.init) + name)
    return EventTime(time)
  }

  /// Whether the process was started with recording that can be paused and resumed.
  var canBePaused: Bool { header.pointee.flags & MT_HEADER_PAUSABLE.rawValue != 0 }

  /// Pauses or resumes recording, and says so.
  ///
  /// All that is recorded lies between the times of a resume and of a pause: one is taken before the
  /// switch, the other after it.
  ///
  /// - Returns: The event time of the change; nil when there was none.
  /// - Throws: ``CommandFailure`` when it cannot be written.
  func setPaused(_ isPaused: Bool) throws(CommandFailure) -> EventTime? {
    let before = mt_live_event_time(header)
    guard mt_live_set_paused(header, isPaused ? 1 : 0) != 0 else { return nil }
    let time = isPaused ? mt_live_event_time(header) : before
    var record = mt_switch_record()
    record.record.length = UInt32(MemoryLayout<mt_switch_record>.size)
    record.record.type = UInt16(MT_RECORD_SWITCH.rawValue)
    record.time = time
    record.is_paused = isPaused ? 1 : 0
    do {
      try append(kind: MT_CHUNK_META, time: time, content: withUnsafeBytes(of: record, Array.init))
    } catch {
      _ = mt_live_set_paused(header, isPaused ? 0 : 1)
      throw error
    }
    return EventTime(time)
  }

  /// Lets the process pause by itself, should this one be killed before it does: until
  /// ``letGo()`` there is a lock, which the kernel takes away then.
  ///
  /// Where there are no such locks, nothing happens then.
  func hold() {
    if setLock(F_RDLCK) { mt_live_set_held(header, 1) }
  }

  /// Whether another process lets the recording run as well; this one holds it.
  ///
  /// Where two ask at once, both are told so, and the recorder pauses once they are gone.
  var isHeldByAnother: Bool { !setLock(F_WRLCK) && (errno == EAGAIN || errno == EACCES) }

  /// Takes the lock away.
  func letGo() { _ = setLock(F_UNLCK) }

  /// From now on recording goes on by itself, whoever has held it.
  func leave() { mt_live_set_held(header, 0) }

  private func setLock(_ type: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = MemoryLayout<mt_file_header>.offset(of: \.held) ?? 1576
    lock.l_len = MemoryLayout<UInt32>.size
    return fcntl(file.rawValue, Int32(MT_LIVE_SET_LOCK), &lock) == 0
  }

  /// Writes a chunk behind all others.
  private func append(
    kind: mt_chunk_kind, time: UInt64, content: [UInt8]
  ) throws(CommandFailure) {
    let alignment = Int(MT_CHUNK_ALIGNMENT)
    let used = Int(MT_CHUNK_HEADER_SIZE) + content.count
    let length = UInt32((used + alignment - 1) / alignment * alignment)
    let offset = mt_live_take(header, length)
    var bytes = [UInt8](repeating: 0, count: Int(length))
    bytes.replaceSubrange(Int(MT_CHUNK_HEADER_SIZE)..<used, with: content)
    do {
      // A chunk is there once its header is: last.
      try write(bytes[Int(MT_CHUNK_HEADER_SIZE)...], at: offset + UInt64(MT_CHUNK_HEADER_SIZE))
      var chunk = mt_chunk_header()
      chunk.magic = MT_CHUNK_MAGIC
      chunk.kind = UInt16(kind.rawValue)
      chunk.encoding = UInt16(MT_ENCODING_PLAIN.rawValue)
      chunk.length = length
      chunk.offset = offset
      chunk.sequence = mt_live_sequence(header)
      chunk.base_time = time
      withUnsafeBytes(of: header.pointee.trace_id) {
        chunk.trace_tag = $0.loadUnaligned(as: UInt64.self)
      }
      chunk.header_check = mt_chunk_check(&chunk)
      try write(withUnsafeBytes(of: chunk, Array.init)[...], at: offset)
    } catch {
      mt_live_give_back(header, offset, length)
      throw CommandFailure("\(path) cannot be added to: \(error)", exitStatus: ExitStatus.ioError)
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws {
    _ = try bytes.withUnsafeBytes { try file.writeAll(toAbsoluteOffset: Int64(offset), $0) }
  }

  // MARK: Snapshots with a name

  /// Takes the lock that whoever asks for a snapshot by name holds; false when another one has it.
  func lockForAsking() -> Bool { flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 }

  /// Writes down what is asked for; the signal comes afterwards.
  ///
  /// - Returns: The number that goes with the signal.
  func ask(_ name: String) -> UInt32 {
    let number = UInt32.random(in: 1...UInt32(Int32.max))
    let bytes = name.utf8.prefix(Int(MT_ASKED_NAME_SIZE)).map { CChar(bitPattern: $0) }
    mt_live_ask(header, number, bytes, UInt32(bytes.count))
    return number
  }

  /// Takes back what was asked for.
  func askNoMore() { mt_live_ask_no_more(header) }

  /// The number of the snapshot that was asked for; nil until it is begun.
  var answer: UInt32? {
    var snapshot: UInt32 = 0
    return mt_live_is_answered(header, &snapshot) != 0 ? snapshot : nil
  }

  /// Snapshots that are no longer being written.
  var snapshotsDone: UInt32 { mt_live_snapshots_done(header) }
}

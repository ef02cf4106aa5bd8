import CTraceFormat
import TraceReader

extension TraceBuilder {
  /// Adds the PROCESS record.
  public mutating func process(
    executable: String, directory: String = "/", arguments: [String] = [], time: UInt64? = nil
  ) {
    let terminated: [UInt8] = arguments.flatMap { Array($0.utf8) + [0] }
    record(MT_RECORD_PROCESS) { writer in
      writer.write(time ?? 0)
      writer.write(UInt32(executable.utf8.count))
      writer.write(UInt32(directory.utf8.count))
      writer.write(UInt32(terminated.count))
      writer.write(UInt32(0))
      writer.write(executable.utf8)
      writer.write(directory.utf8)
      writer.write(terminated)
    }
  }

  /// Adds a REFCOUNTS record.
  public mutating func refcounts(
    _ state: mt_refcounts_state, patterns: String = "1", text: String = "", time: UInt64 = 0
  ) {
    record(MT_RECORD_REFCOUNTS) { writer in
      writer.write(time)
      writer.write(state.rawValue)
      writer.write(UInt32(patterns.utf8.count))
      writer.write(UInt32(text.utf8.count))
      writer.write(UInt32(0))
      writer.write(patterns.utf8)
      writer.write(text.utf8)
    }
  }

  /// Adds a ZOMBIE record.
  public mutating func zombie(_ use: ZombieUse) {
    record(MT_RECORD_ZOMBIE) { writer in
      writer.write(use.time.rawValue)
      writer.write(use.block.rawValue)
      switch use.evidence {
      case .written(let offset, let length, let found):
        writer.write(offset)
        writer.write(length)
        writer.write(found.kind.rawValue)
        writer.write(UInt32(0))
        writer.write(use.thread.rawValue)
        writer.write(UInt32(0))
      case .followed(let signal, let stack):
        writer.write(UInt64(0))
        writer.write(UInt64(0))
        writer.write(MT_ZOMBIE_USED.rawValue)
        writer.write(UInt32(bitPattern: signal))
        writer.write(use.thread.rawValue)
        writer.write(stack.rawValue)
      }
    }
  }

  /// Adds an OVERRUN record.
  public mutating func overrun(_ overrun: BlockOverrun) {
    record(MT_RECORD_OVERRUN) { writer in
      writer.write(overrun.time.rawValue)
      writer.write(overrun.block.rawValue)
      writer.write(overrun.size)
      writer.write(UInt64(bitPattern: overrun.offset))
      writer.write(overrun.length)
      writer.write(overrun.found.kind.rawValue)
      writer.write(overrun.thread.rawValue)
    }
  }

  /// Adds an ACCESS record.
  public mutating func access(_ access: GuardedAccess) {
    record(MT_RECORD_ACCESS) { writer in
      writer.write(access.time.rawValue)
      writer.write(access.block.rawValue)
      writer.write(access.size)
      writer.write(access.block.rawValue &+ UInt64(bitPattern: access.access.offset))
      writer.write(access.access.kind.code.rawValue)
      writer.write(UInt32(access.isFreed ? 1 : 0))
      writer.write(UInt32(bitPattern: access.access.signal))
      writer.write(access.thread.rawValue)
      writer.write(access.stack.rawValue)
      writer.write(UInt32(0))
    }
  }

  /// Adds a CRASH record.
  public mutating func crash(_ crash: Crash) {
    record(MT_RECORD_CRASH) { writer in
      writer.write(crash.time.rawValue)
      writer.write(crash.address)
      writer.write(UInt32(bitPattern: crash.signal))
      writer.write(UInt32(bitPattern: crash.code))
      writer.write(crash.access.code.rawValue)
      writer.write(crash.thread.rawValue)
      writer.write(crash.stack.rawValue)
      writer.write(UInt32(crash.isOutOfStack ? 1 : 0))
      writer.write(crash.stackPointer)
    }
  }

  /// Adds an IMAGE record.
  public mutating func image(_ image: Image) {
    record(MT_RECORD_IMAGE) { writer in
      writer.write(image.loadTime.rawValue)
      writer.write(image.loadBias)
      writer.write(image.start.rawValue)
      writer.write(image.end.rawValue)
      writer.write(image.textStart.rawValue)
      writer.write(image.textEnd.rawValue)
      writer.write(image.index)
      writer.write(image.firstStack.rawValue)
      writer.write(UInt32(image.buildID.count))
      writer.write(UInt32(image.path.utf8.count))
      writer.write(image.buildID)
      writer.write(image.path.utf8)
    }
  }

  /// Adds an UNLOAD record.
  public mutating func unload(image: UInt32, time: UInt64, firstStack: StackID) {
    record(MT_RECORD_UNLOAD) { writer in
      writer.write(time)
      writer.write(image)
      writer.write(firstStack.rawValue)
    }
  }

  /// What a THREAD record says.
  public enum ThreadState: Sendable {
    case began, named, ended

    var code: mt_thread_state {
      switch self {
      case .began: MT_THREAD_BEGAN
      case .named: MT_THREAD_NAMED
      case .ended: MT_THREAD_ENDED
      }
    }
  }

  /// Adds a THREAD record.
  public mutating func thread(
    _ thread: UInt32, tid: UInt32, name: String = "", state: ThreadState = .began, time: UInt64 = 0
  ) {
    record(MT_RECORD_THREAD) { writer in
      writer.write(time)
      writer.write(thread)
      writer.write(tid)
      writer.write(UInt32(state.code.rawValue))
      writer.write(UInt32(name.utf8.count))
      writer.write(name.utf8)
    }
  }

  /// Adds a NOTE record; `kind` is an `mt_note_kind`.
  public mutating func note(kind: UInt32, text: String, value: UInt64 = 0, time: UInt64 = 0) {
    record(MT_RECORD_NOTE) { writer in
      writer.write(time)
      writer.write(value)
      writer.write(kind)
      writer.write(UInt32(text.utf8.count))
      writer.write(text.utf8)
    }
  }

  /// Adds a MARK record.
  public mutating func mark(_ name: String, thread: UInt32 = 1, time: UInt64) {
    record(MT_RECORD_MARK) { writer in
      writer.write(time)
      writer.write(thread)
      writer.write(UInt32(name.utf8.count))
      writer.write(name.utf8)
    }
  }

  /// Adds a SWITCH record.
  public mutating func pause(_ isPaused: Bool, thread: UInt32 = 0, time: UInt64) {
    record(MT_RECORD_SWITCH) { writer in
      writer.write(time)
      writer.write(thread)
      writer.write(UInt32(isPaused ? 1 : 0))
    }
  }

  /// Adds a TYPE record for each of the type's words, one with word 0 when it has none.
  ///
  /// `code` is an `mt_type_kind`.
  public mutating func type(_ type: BlockType, code: UInt32) {
    for word in type.words.isEmpty ? [0] : type.words {
      record(MT_RECORD_TYPE) { writer in
        writer.write(type.time.rawValue)
        writer.write(word)
        writer.write(type.definition.rawValue)
        writer.write(type.instanceSize)
        writer.write(type.id.rawValue)
        writer.write(type.base?.rawValue ?? 0)
        writer.write(code)
        writer.write(UInt32(type.name.utf8.count))
        writer.write(type.name.utf8)
      }
    }
  }

  /// Adds a FIELDS record.
  public mutating func fields(_ offsets: [UInt32], ofWord word: UInt64, time: UInt64 = 0) {
    record(MT_RECORD_FIELDS) { writer in
      writer.write(time)
      writer.write(word)
      writer.write(UInt32(offsets.count))
      writer.write(UInt32(0))
      for offset in offsets { writer.write(offset) }
    }
  }

  /// Adds a TYPED record.
  public mutating func typed(_ sighting: TypeSighting, time: UInt64 = 0) {
    record(MT_RECORD_TYPED) { writer in
      writer.write(time)
      writer.write(sighting.size)
      writer.write(sighting.stack.rawValue)
      writer.write(sighting.type.rawValue)
      writer.write(UInt32(sighting.evidence == .freed ? 2 : 1))
      writer.write(sighting.freeStack.rawValue)
    }
  }

  /// Adds an IGNORED record.
  public mutating func ignored(_ address: UInt64, thread: UInt32 = 1, time: UInt64? = nil) {
    let time = time ?? self.time
    record(MT_RECORD_IGNORED) { writer in
      writer.write(time)
      writer.write(address)
      writer.write(thread)
      writer.write(UInt32(0))
    }
  }

  private mutating func record(_ type: mt_record_type, _ body: (inout ByteWriter) -> Void) {
    var content = ByteWriter()
    body(&content)
    appendRecord(type: UInt16(type.rawValue), content: content.bytes)
  }
}

extension ZombieUse.Discovery {
  fileprivate var kind: mt_zombie_kind {
    switch self {
    case .release: MT_ZOMBIE_WRITTEN
    case .end: MT_ZOMBIE_WRITTEN_AT_END
    case .mark: MT_ZOMBIE_WRITTEN_AT_MARK
    }
  }
}

extension BlockOverrun.Discovery {
  fileprivate var kind: mt_overrun_kind {
    switch self {
    case .free: MT_OVERRUN_AT_FREE
    case .end: MT_OVERRUN_AT_END
    case .mark: MT_OVERRUN_AT_MARK
    }
  }
}

extension MemoryAccess.Kind {
  fileprivate var code: mt_access_kind {
    switch self {
    case .read: MT_ACCESS_READ
    case .write: MT_ACCESS_WRITE
    case .execute: MT_ACCESS_EXECUTE
    case .unknown: MT_ACCESS_UNKNOWN
    }
  }
}

extension TraceBuilder {
  /// Adds a MAPPING record, and says in the header that there are some.
  public mutating func mapping(_ call: MappingCall) {
    header.flags.insert(.mappings)
    record(MT_RECORD_MAPPING) { writer in
      writer.write(call.endTime.rawValue)
      writer.write(call.time.rawValue)
      writer.write(call.ended.start)
      writer.write(call.ended.length)
      writer.write(call.begun.start)
      writer.write(call.begun.length)
      writer.write(call.offset)
      writer.write(call.function.code.rawValue)
      writer.write(call.stack.rawValue)
      writer.write(call.thread.rawValue)
      writer.write(call.protection)
      writer.write(call.flags)
      writer.write(UInt32(call.path.utf8.count))
      writer.write(call.path.utf8)
    }
  }
}

extension MappingCall.Function {
  fileprivate var code: mt_mapping_call {
    switch self {
    case .mmap: MT_MAPPING_MMAP
    case .munmap: MT_MAPPING_MUNMAP
    case .mremap: MT_MAPPING_MREMAP
    case .mprotect: MT_MAPPING_PROTECT
    case .programBreak: MT_MAPPING_BREAK
    }
  }
}

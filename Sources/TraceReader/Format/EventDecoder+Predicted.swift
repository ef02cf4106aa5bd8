import CTraceFormat

/// The encoding that says only what `memtrace_predictor.h` does not expect.
extension EventDecoder {
  private typealias Predictor = UnsafeMutablePointer<mt_predictor>
  private typealias Site = UnsafeMutablePointer<mt_site>

  /// Adds events to a batch.
  mutating func fillPredicted(
    _ predictor: UnsafeMutablePointer<mt_predictor>, _ batch: inout EventBatch
  ) -> Outcome {
    // Locals stay in registers; members would be stored for each event.
    var (next, time) = (position, time)
    var greatestTime = batch.greatestTime
    var event = batch.events + batch.count
    let full = batch.events + batch.capacity
    let (end, lastStart) = (end, lastStart)
    let (gains, losses) = (table.gains, table.losses)
    let blockless = bit(MT_OP_REALLOC_FAIL) | bit(MT_OP_REALLOC_LEFT)
    let (sized, aligned) = (gains | table.sized | blockless, table.aligned)
    var isMalformed = false
    defer {
      (self.position, self.time) = (next, time)
      (batch.count, batch.greatestTime) = (event - batch.events, greatestTime)
    }
    while event < full, next < lastStart {
      var at = next
      let tag = at.load(as: UInt8.self)
      at += 1
      if UInt32(tag) & MT_TAG_SITE == MT_SITE_NONE.rawValue {
        if tag == 0 { return .end }
        // Copies, since what a function gets the address of cannot stay in a register.
        var (behind, newTime) = (at, time)
        let outcome = readControl(tag, &behind, &newTime, predictor, event)
        time = newTime
        if behind > end, outcome != .malformed { return .pastEnd }
        if outcome == .malformed { return .malformed }
        next = behind
        if outcome == .thread { return .thread }
        if outcome == .batch {
          event += 1
          greatestTime = max(greatestTime, time)
        }
        continue
      }
      if UInt32(tag) & MT_TAG_TIME != 0 { time &+= VarInt.read(&at, &isMalformed) }
      let name = Self.readSite(tag, &at, predictor, &isMalformed)
      let site = mt_learn_site(predictor, name).unsafelyUnwrapped
      event.pointee.time = time
      event.pointee.stack = name >> 1
      let (size, operation) = readOperation(
        tag, &at, site, event, sized, aligned, &batch, &isMalformed)
      let place = UInt32(tag) >> UInt32(MT_TAG_ADDRESS_SHIFT)
      if (gains &>> operation) & 1 != 0 {
        event.pointee.address = Self.readAllocated(place, &at, size, predictor, &isMalformed)
      } else if (losses &>> operation) & 1 != 0 {
        event.pointee.address = Self.readFreed(place, &at, site, predictor, &isMalformed)
      } else if (blockless &>> operation) & 1 == 0 {
        return .malformed
      }
      if isMalformed { return .malformed }
      if at > end { return .pastEnd }
      next = at
      event += 1
      greatestTime = max(greatestTime, time)
    }
    return .batch
  }

  @inline(__always)
  private func bit(_ operation: mt_operation) -> UInt64 { 1 << UInt64(operation.rawValue) }

  /// Where the event comes from; afterwards not yet learnt.
  @inline(__always)
  private static func readSite(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ predictor: Predictor, _ isMalformed: inout Bool
  ) -> mt_site_name {
    switch UInt32(tag) & MT_TAG_SITE {
    case MT_SITE_AFTER_PAIR.rawValue: return mt_site_after_pair(predictor)
    case MT_SITE_AFTER_ONE.rawValue: return mt_site_after_one(predictor)
    default:
      let index = at.load(as: UInt8.self)
      at += 1
      if index > 0, index < MT_NEAR_SITE { return mt_recent_site(predictor, UInt32(index)) }
      let name =
        index == 0
        ? predictor.pointee.highest
          &+ UInt32(truncatingIfNeeded: VarInt.unzigzag(VarInt.read(&at, &isMalformed)))
        : mt_near_site(predictor, UInt32(index))
      mt_learn_full_site(predictor, name)
      return name
    }
  }

  /// Reads operation, size and alignment.
  ///
  /// - Returns: The size, and the operation, below 64; 0 when there is no such operation.
  @inline(__always)
  private func readOperation(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ site: Site,
    _ event: UnsafeMutablePointer<RawEvent>, _ sized: UInt64, _ aligned: UInt64,
    _ batch: inout EventBatch, _ isMalformed: inout Bool
  ) -> (UInt64, UInt64) {
    var size = UInt64(site.pointee.size)
    // Nearly always so: a branch of its own, which the others do not become one jump with.
    if UInt32(tag) & MT_TAG_SIZE << UInt32(MT_TAG_SIZE_SHIFT) == MT_SIZE_LAST.rawValue {
      return (size, readKnownOperation(site, event, size))
    }
    let form = UInt32(tag) >> UInt32(MT_TAG_SIZE_SHIFT) & MT_TAG_SIZE
    if form == MT_SIZE_OPERATION.rawValue {
      var operation = at.load(as: UInt8.self)
      at += 1
      // 0 is no operation either, and with that the chunk ends.
      if operation > 63 { operation = 0 }
      size = (sized &>> UInt64(operation)) & 1 != 0 ? VarInt.read(&at, &isMalformed) : 0
      let hasAlignment = (aligned &>> UInt64(operation)) & 1 != 0
      let alignment = hasAlignment ? VarInt.read(&at, &isMalformed) : 0
      mt_learn_size(site, size)
      mt_learn_operation(site, operation, alignment)
      event.pointee.operation = operation
      event.pointee.size = size
      event.pointee.alignment = AlignmentCode(alignment)
      if event.pointee.alignment == .odd { batch.setOdd(alignment, of: event) }
      return (size, UInt64(operation))
    }
    size =
      form == MT_SIZE_OTHER.rawValue
      ? UInt64(site.pointee.other_size) : VarInt.read(&at, &isMalformed)
    mt_learn_size(site, size)
    return (size, readKnownOperation(site, event, size))
  }

  /// Takes operation and alignment from the site.
  ///
  /// - Returns: The operation.
  @inline(__always)
  private func readKnownOperation(
    _ site: Site, _ event: UnsafeMutablePointer<RawEvent>, _ size: UInt64
  ) -> UInt64 {
    let operation = site.pointee.operation
    event.pointee.operation = operation
    event.pointee.size = size
    let exponent = site.pointee.alignment_log2
    event.pointee.alignment = AlignmentCode(rawValue: exponent &+ (exponent == 0 ? 0 : 1))
    return UInt64(operation)
  }

  /// The address of a new block.
  @inline(__always)
  private static func readAllocated(
    _ place: UInt32, _ at: inout UnsafeRawPointer, _ size: UInt64, _ predictor: Predictor,
    _ isMalformed: inout Bool
  ) -> UInt64 {
    let units = mt_block_units(size)
    let sizeClass = mt_size_class(units)
    let address: UInt64
    switch place {
    case MT_NEW_LAST_FREED.rawValue:
      address = mt_freed_address(predictor, sizeClass, 0)
      mt_learn_reuse(predictor, sizeClass, 0)
    case MT_NEW_BEHIND.rawValue:
      address = predictor.pointee.behind
    case MT_NEW_KEPT.rawValue:
      address = predictor.pointee.freed_address
      mt_learn_kept(predictor)
    case MT_NEW_FREED.rawValue:
      address = readFreedBefore(at.load(as: UInt8.self), sizeClass, predictor)
      at += 1
    default:
      address = readDistance(place, &at, from: predictor.pointee.allocated, &isMalformed)
    }
    mt_learn_allocation(predictor, address, units, sizeClass)
    return address
  }

  /// The address of a block that was freed before others of its class; not inlined, because moving
  /// those takes registers that all events would miss.
  @inline(never)
  private static func readFreedBefore(
    _ depth: UInt8, _ sizeClass: UInt32, _ predictor: Predictor
  ) -> UInt64 {
    let depth = UInt32(depth) & UInt32(MT_FREED_DEPTH - 1)
    let address = mt_freed_address(predictor, sizeClass, depth)
    mt_learn_reuse(predictor, sizeClass, depth)
    return address
  }

  /// The address of a block that goes.
  @inline(__always)
  private static func readFreed(
    _ place: UInt32, _ at: inout UnsafeRawPointer, _ site: Site, _ predictor: Predictor,
    _ isMalformed: inout Bool
  ) -> UInt64 {
    let slot: UInt32
    if place <= MT_FREED_PREVIOUS.rawValue {
      slot = nearSlot(place, predictor)
    } else if place == MT_FREED_AGE.rawValue {
      slot = mt_block_slot(predictor, VarInt.read(&at, &isMalformed))
    } else {
      let address = readDistance(place, &at, from: predictor.pointee.freed_address, &isMalformed)
      mt_learn_deallocation(predictor, site, address, UInt32(MT_NEWEST_BLOCKS))
      return address
    }
    let address = mt_block_address(predictor, slot)
    mt_learn_deallocation(predictor, site, address, slot)
    return address
  }

  /// The slot of the four codes without a number, found without a branch: nobody foresees which.
  @inline(__always)
  private static func nearSlot(_ place: UInt32, _ predictor: Predictor) -> UInt32 {
    let (newest, freed) = (predictor.pointee.newest, predictor.pointee.freed_slot)
    let isNew = place <= MT_FREED_SECOND.rawValue
    // Newest - 0, newest - 1; freed + 1, freed - 1.
    let distance = isNew ? 0 &- place : 5 &- 2 &* place
    return ((isNew ? newest : freed) &+ distance) & UInt32(MT_NEWEST_BLOCKS - 1)
  }

  @inline(__always)
  private static func readDistance(
    _ place: UInt32, _ at: inout UnsafeRawPointer, from base: UInt64, _ isMalformed: inout Bool
  ) -> UInt64 {
    let distance = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
    switch place {
    case MT_ADDRESS_DISTANCE_16.rawValue: return base &+ distance << 4
    case MT_ADDRESS_DISTANCE.rawValue: return base &+ distance
    default:
      isMalformed = true
      return 0
    }
  }

  /// Makes tables that know nothing yet.
  ///
  /// In place: a copy would need more of a thread's stack than there may be.
  static func clear(_ predictor: UnsafeMutablePointer<mt_predictor>) {
    UnsafeMutableRawPointer(predictor).initializeMemory(
      as: UInt8.self, repeating: 0, count: MemoryLayout<mt_predictor>.size)
  }

  /// Reads what is neither an allocation nor a deallocation.
  ///
  /// - Returns: `.batch` when it is an event for the batch, `.end` when it is none, `.thread` when
  ///   what follows is of another thread.
  @inline(never)
  private mutating func readControl(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ time: inout UInt64, _ predictor: Predictor,
    _ event: UnsafeMutablePointer<RawEvent>
  ) -> Outcome {
    var isMalformed = false
    if UInt32(tag) & MT_TAG_TIME != 0 { time &+= VarInt.read(&at, &isMalformed) }
    let number = VarInt.read(&at, &isMalformed)
    switch UInt32(tag) >> UInt32(MT_TAG_CONTROL_SHIFT) {
    case MT_CONTROL_THREAD.rawValue:
      if at <= end, !isMalformed { thread = UInt32(truncatingIfNeeded: number) }
      return isMalformed ? .malformed : .thread
    case MT_CONTROL_FAILED.rawValue:
      event.pointee = RawEvent(
        time: time, size: VarInt.read(&at, &isMalformed),
        stack: UInt32(truncatingIfNeeded: number), operation: UInt8(MT_OP_FAILED.rawValue),
        detail: UInt16(at.load(as: UInt8.self)))
      at += 1
      return isMalformed || !OperationTable.canFail(event.pointee.detail) ? .malformed : .batch
    case MT_CONTROL_RESET.rawValue:
      Self.clear(predictor)
      time = number
      return isMalformed ? .malformed : .end
    default:
      return .malformed
    }
  }
}

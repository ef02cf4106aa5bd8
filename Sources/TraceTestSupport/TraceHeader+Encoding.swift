import CTraceFormat
import TraceReader

extension TraceHeader {
  /// The bytes of the file header.
  public func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.write(MT_FILE_MAGIC.utf8)
    writer.write(major)
    writer.write(minor)
    writer.write(UInt32(MT_BYTE_ORDER_MARK))
    writer.write(UInt32(MT_FILE_HEADER_SIZE))
    writer.write(flags.rawValue)
    writer.write(machine)
    writer.write(pointerBits)
    writer.write(pageSize)
    for id in [traceID, parentTraceID, sessionID] {
      writer.write(id.low)
      writer.write(id.high)
    }
    for field in [pid, ppid, uid, stackDepth] { writer.write(field) }
    for field in [
      startWallNanoseconds, startMonotonicNanoseconds, startTicks, latestMonotonicNanoseconds,
      latestTicks, ticksPerSecond, tickShift, fileEnd, ramBytes, addressSpaceLimitBytes,
      cgroupLimitBytes, chunks,
    ] { writer.write(field) }
    writer.write(endKind)
    writer.write(endStatus)
    writer.write(endTicks)
    writer.write(stopReason)
    writer.write(stopErrno)
    for field in [stopTicks, loadTicks, forkTicks, sampleInterval, 0] { writer.write(field) }
    for index in 0..<Int(MT_COUNTER_SLOTS) {
      writer.write(index < counters.count ? counters[index] : 0)
    }
    writer.write(events)
    writer.write(recordedBytes)
    for field in [snapshotSignal, snapshotsBegun, snapshotsDone, 0] { writer.write(field) }
    writer.pad(to: Self.mainStackOffset)
    writer.write(mainStack)
    writer.write(peakResident)
    writer.pad(to: Int(MT_FILE_HEADER_SIZE))
    return writer.bytes
  }
}

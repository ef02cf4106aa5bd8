import CTraceFormat

/// A chunk of events, as far as the file has it.
struct EventChunk {
  /// Where its events begin.
  var offset: UInt64
  /// The bytes from there to the end of the chunk or of the file.
  var length: Int
  var baseTime: UInt64
  /// The time of the last event; nil where it is not known.
  var lastTime: UInt64?
  var thread: UInt32
  var sequence: UInt64
  /// An `mt_encoding`, one of ``ChunkReader/encodings``.
  var encoding: UInt32
  /// Whether the file ends inside the chunk.
  var isCut: Bool
  /// Whether announced blocks are to have keys of their own, see ``BlockKey``.
  var keysAnnounced = false
  /// Events after this time are left out: of others from that time the trace may lack some.
  var end = UInt64.max
  /// Of what was written; nil where it is not known.
  var checksum: ChunkChecksum?

  /// Whether its bytes are those that the recorder has written, not encoded anew.
  var isAsRecorded: Bool { encoding != MT_ENCODING_COLUMNS.rawValue }

  /// What is to be said where the file has others than the checksum is of.
  var doubt: Damage {
    Damage(
      offset: offset, length: UInt64(checksum?.length ?? 0),
      reason: "events do not match their checksum", isDoubt: true)
  }

  /// Whether all of its events are known to come before a time.
  func ends(before time: UInt64) -> Bool {
    lastTime.map { $0 < time } ?? false
  }
}

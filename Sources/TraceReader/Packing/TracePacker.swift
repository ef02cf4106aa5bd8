import CTraceFormat
import SystemPackage

/// What packing a trace came to.
public struct PackSummary: Sendable, Hashable {
  /// Bytes of the trace as it was recorded.
  public var recordedBytes: UInt64
  /// Bytes of the packed file.
  public var packedBytes: UInt64
  /// How many events it holds.
  public var events: UInt64
  /// Bytes that were missing at the end of the trace already.
  public var missingBytes: UInt64
  /// Whether parts of the trace could not be read.
  public var isDamaged: Bool
}

/// Writes a trace anew as a packed one.
///
/// A packed file is a plain trace in compressed frames: `zstd -d` makes that trace of it. Beside
/// what was recorded it holds names (SYMBOLS chunks), which come first so that a file that is cut
/// has them, and copies of all chunk headers (an INDEX chunk), so that opening it need not
/// decompress everything. Chunks keep their order, their sequence numbers and their content; only
/// events are encoded anew. Damaged parts are taken over as they are. A trace that was packed and
/// unpacked before loses the INDEX chunk of that time, and its names where new ones are given.
public struct TracePacker {
  private let trace: Trace
  private let level: Int
  private let symbols: [[UInt8]]

  /// The levels of compression, from the fastest to the smallest.
  public static let levels = ZstdCompressor.levels

  /// Prepares to pack.
  ///
  /// - Parameters:
  ///   - trace: An opened trace.
  ///   - level: One of ``levels``; others are clamped.
  ///   - symbols: The contents of SYMBOLS chunks, each of at most `MT_CHUNK_MAX_LENGTH` bytes.
  public init(_ trace: Trace, level: Int, symbols: [[UInt8]] = []) {
    self.trace = trace
    self.level = min(max(level, Self.levels.lowerBound), Self.levels.upperBound)
    self.symbols = symbols
  }

  /// Writes the packed file.
  ///
  /// - Parameters:
  ///   - output: An empty file, open for writing. Of no use if this throws.
  ///   - progress: Called with the bytes of the trace that are done, and all of them.
  /// - Returns: What it came to.
  /// - Throws: `.inconsistent` when the trace is packed already, `.io` when reading or writing
  ///   fails.
  public func write(
    to output: FileDescriptor, progress: (UInt64, UInt64) -> Void = { _, _ in }
  ) throws(TraceError) -> PackSummary {
    guard !trace.isPacked else {
      throw TraceError(.inconsistent, "is packed already", path: trace.path.string)
    }
    let file = trace.file
    let index = try ChunkIndex(scanning: file, header: trace.header)
    var layout = try PackedLayout(output: output, level: level, trace: trace, chunks: index.chunks)
    for content in symbols { try layout.append(symbols: content) }
    var end = UInt64(MT_FILE_HEADER_SIZE)
    for chunk in index.chunks {
      try append(end..<chunk.offset, of: index, to: &layout)
      if !isReplaced(chunk) { try layout.append(chunk) }
      end = chunk.offset &+ UInt64(chunk.length)
      progress(min(end, file.size), file.size)
    }
    if end < file.size { try append(end..<file.size, of: index, to: &layout) }
    return try layout.finish(index)
  }

  /// Takes over what lies between chunks; zeros mean nothing unless they are damage.
  private func append(
    _ gap: Range<UInt64>, of index: ChunkIndex, to layout: inout PackedLayout
  ) throws(TraceError) {
    let next = index.damage.partitioningIndex { $0.offset >= gap.upperBound }
    let last = next > 0 ? index.damage[next - 1] : nil
    let isDamage = last.map { $0.offset &+ $0.length > gap.lowerBound } ?? false
    try layout.append(gap: gap, keepsZeros: isDamage)
  }

  /// Whether a chunk is left out, because the new file has its own in place of it.
  private func isReplaced(_ chunk: ChunkHeader) -> Bool {
    switch UInt32(chunk.kind) {
    case MT_CHUNK_INDEX.rawValue: true
    case MT_CHUNK_SYMBOLS.rawValue: !symbols.isEmpty
    default: false
    }
  }
}

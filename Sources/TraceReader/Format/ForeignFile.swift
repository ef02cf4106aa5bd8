import CTraceFormat

/// What files are that are taken for traces.
enum ForeignFile {
  /// The first bytes of files that are no traces, and what they are, with what to do.
  private static let known: [(start: [UInt8], description: String)] = [
    (
      [0x7f, 0x45, 0x4c, 0x46],
      "is a program, not a trace; with '--' in front of it, it is recorded"
    ),
    (Array("#!".utf8), "is a script, not a trace; with '--' in front of it, it is recorded"),
    ([0x1f, 0x8b], compressed(by: "gzip", "gunzip")),
    ([0xfd, 0x37, 0x7a, 0x58, 0x5a], compressed(by: "xz", "unxz")),
    (Array("BZh".utf8), compressed(by: "bzip2", "bunzip2")),
    (Array("PK".utf8) + [3, 4], compressed(by: "zip", "unzip")),
  ]

  private static func compressed(by name: String, _ remedy: String) -> String {
    "is compressed by \(name): use \(remedy) first"
      + " ('memtrace pack' makes traces small that are read as they are)"
  }

  /// Says what a file is that does not begin as a trace does.
  static func description(ofFileBeginningWith bytes: [UInt8]) -> String {
    if bytes.prefix(8).allSatisfy({ $0 == 0 }) {
      return "begins with zeros: the recording never came to write its header"
    }
    return known.first { bytes.starts(with: $0.start) }?.description
      ?? "is not a trace: it does not begin with \(MT_FILE_MAGIC)"
  }
}

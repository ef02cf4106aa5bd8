#if canImport(Glibc)
  import Glibc
#endif

/// How much memory the reader takes for what a trace claims to hold.
///
/// A few bytes can stand for many: of a run of stack nodes, of equal words, of content that is compressed.
/// Traces that were recorded stay far below these limits.
enum ReaderMemory {
  /// The greatest memory for the stacks of a trace, in bytes.
  ///
  /// - Parameters:
  ///   - storedSize: Bytes of the file as it is on the disk.
  ///   - available: What the process can have.
  /// - Returns: Bytes.
  static func stackLimit(storedSize: UInt64, available: UInt64 = available()) -> Int {
    let (bySize, overflow) = storedSize.multipliedReportingOverflow(by: bytesPerStoredByte)
    let limit = overflow ? .max : max(leastLimit, bySize)
    return Int(clamping: min(limit, available / 4))
  }

  /// The greatest memory for the words of a snapshot, in bytes.
  ///
  /// The file does not tell: a program may well fill a GiB with one word, of which a packed trace is some KiB.
  ///
  /// - Parameter available: What the process can have.
  /// - Returns: Bytes.
  static func wordLimit(available: UInt64 = available()) -> Int {
    Int(clamping: available / 4)
  }

  /// A packed trace has less than one node for each of its bytes, of 8 bytes each.
  private static let bytesPerStoredByte: UInt64 = 8192
  private static let leastLimit: UInt64 = 1 << 20

  /// The memory of the machine, or what the process may have of it.
  private static func available() -> UInt64 {
    let pages = UInt64(clamping: sysconf(Int32(_SC_PHYS_PAGES)))
    let memory = pages.multipliedReportingOverflow(
      by: UInt64(clamping: sysconf(Int32(_SC_PAGESIZE))))
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
      return memory.partialValue
    }
    return min(memory.partialValue, UInt64(limit.rlim_cur))
  }
}

internal import CMemtrace

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// memtrace from within a Swift program: marks and heap snapshots at moments that the program
/// chooses.
///
/// Everything does nothing, and costs nothing worth mentioning, while memtrace does not record the
/// program: nothing has to be taken out before it is shipped.
///
/// ```swift
/// import Memtrace
///
/// Memtrace.mark("warm")
/// handleRequests()
/// Memtrace.mark("served")
/// Memtrace.snapshot("after the requests")
/// ```
///
/// `memtrace generations` then shows what grew between the marks, and `memtrace leaks --at` what
/// was leaked at the snapshot. From any thread or task, not from signal handlers.
///
/// Source: `memtrace.h`.
public enum Memtrace {
  /// Whether the recorder is loaded into this process.
  public static var isLoaded: Bool { cmemtrace_is_loaded() != 0 }

  /// Names this moment: reports take the name where they take a time.
  ///
  /// The corresponding C function is `memtrace_mark`.
  ///
  /// - Parameter name: Text, cut after 1023 bytes of UTF-8.
  public static func mark(_ name: String) {
    guard isLoaded else { return }
    name.withCString { cmemtrace_mark($0) }
  }

  /// Records all allocations from now on, where recording began paused (`memtrace record --paused`).
  ///
  /// Frees of blocks that were recorded are recorded always. For the calling thread it counts at
  /// once, for others after 1 KiB of allocations at most. The corresponding C function is
  /// `memtrace_resume`.
  public static func resume() { cmemtrace_resume() }

  /// Records no more allocations, until ``resume()``.
  ///
  /// The corresponding C function is `memtrace_pause`.
  public static func pause() { cmemtrace_pause() }

  /// Announces a block that an allocator of the program's own has handed out.
  ///
  /// Reports then show it as those of `malloc`. It ends with ``freed(_:)``, or with what it lies in. The
  /// corresponding C function is `memtrace_allocated`.
  ///
  /// - Parameters:
  ///   - block: Where the block begins.
  ///   - size: Bytes that are used of it.
  public static func allocated(_ block: UnsafeRawPointer, size: Int) {
    cmemtrace_allocated(block, size)
  }

  /// Says that the allocator takes a block back; before its memory can be handed out again.
  ///
  /// The corresponding C function is `memtrace_freed`.
  ///
  /// - Parameter block: Where the block begins.
  public static func freed(_ block: UnsafeRawPointer) { cmemtrace_freed(block) }

  /// Says that a block is never to be reported as leaked, nor what only it holds.
  ///
  /// The corresponding C function is `memtrace_ignore`.
  ///
  /// - Parameter block: An address in a block of `malloc`, or in one that was announced.
  public static func ignore(_ block: UnsafeRawPointer) { cmemtrace_ignore(block) }

  /// What became of a snapshot that the program asked for.
  public enum SnapshotResult: Hashable, Sendable {
    /// It has been taken; it is written while the program goes on.
    case taken
    /// Another one is still being written.
    case busy
    /// Nothing is recorded.
    case notRecorded
    /// It could not be taken, for this error number: `EAGAIN` when no process can be made, `ENOENT`
    /// without `/proc`, `ENOMEM`.
    case failed(Int32)
  }

  /// Takes a heap snapshot: which blocks are reachable now, and from where.
  ///
  /// Other threads stand still for some milliseconds. The corresponding C function is
  /// `memtrace_snapshot`.
  ///
  /// - Parameter name: What the snapshot is called in reports; cut after 1023 bytes of UTF-8.
  /// - Returns: Whether it was taken.
  @discardableResult
  public static func snapshot(_ name: String = "") -> SnapshotResult {
    let error = name.withCString { cmemtrace_snapshot($0) }
    return switch error {
    case 0: .taken
    case EBUSY: .busy
    case ENOSYS: .notRecorded
    default: .failed(error)
    }
  }
}

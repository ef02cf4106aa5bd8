import SystemPackage
import TraceReader

extension StopReason {
  /// Why recording stopped, as the end of a sentence.
  public var text: String {
    switch cause {
    case .diskFull: "the disk was full"
    case .keepFree: "the disk had no more room than is left to others (--keep-free)"
    case .maxSize: "the trace is as large as it may be (--max-size)"
    case .fileLimit: "the file size limit was reached (ulimit -f)"
    case .noMemory: "no address space was left (ulimit -v, vm.max_map_count)"
    case .descriptorLost: "the program closed the trace's file descriptor"
    case .inputOutput: "writing failed: \(Errno(rawValue: errno))"
    case .requested: "it was to be skipped (MEMTRACE_SKIP)"
    case .sandbox:
      "the program entered a sandbox (seccomp or the like), where recording could get it killed"
    case .unknown(let code): "reason \(code)"
    }
  }
}

import Foundation

/// What tests with a limit measure: nothing of it depends on what else the machine does.
public enum SpentResources {
  /// Measures the time that the calling thread spends on the processor.
  ///
  /// - Parameter body: What is measured; on the calling thread alone.
  /// - Returns: The time, without what others took meanwhile.
  /// - Throws: What the body throws.
  public static func threadTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = threadTime()
    try body()
    return threadTime() - start
  }

  private static func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The greatest resident memory of this process in bytes, since its program was executed.
  ///
  /// Not that of `getrusage`, which begins with the memory of the process that started it
  /// (`exec_mmap` in the kernel's `fs/exec.c`). nil when the kernel does not tell.
  public static func peakMemory() -> Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }
}

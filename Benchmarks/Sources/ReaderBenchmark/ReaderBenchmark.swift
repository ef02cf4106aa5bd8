import ArgumentParser
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// Measures how fast a trace is replayed, and in how much memory.
@main
struct ReaderBenchmark: ParsableCommand {
  @Option(help: "Events to generate.") var events = 20_000_000
  @Option(help: "Threads that share them.") var threads = 1
  @Option(help: "Greatest number of live blocks.") var live = 1_000_000
  @Option(help: "Replays to time.") var repeats = 3
  @Option(help: "Seed of the generator.") var seed: UInt64 = 1
  @Option(help: "Trace to write and replay; an existing one is replayed as it is.") var file = ""

  func run() throws {
    let path = FilePath(file.isEmpty ? "/tmp/memtrace-benchmark-\(getpid()).mtrace" : file)
    if access(path.string, F_OK) != 0 {
      let generator = TraceGenerator(
        events: events, threads: threads, greatestLive: live, seed: seed)
      let bytes = try generator.write(to: path)
      print("generated \(events) events, \(Double(bytes) / Double(events)) bytes each")
    }
    defer { if file.isEmpty { unlink(path.string) } }
    // Measured in a fresh process: the generator's own memory must not count.
    if !file.isEmpty { try measure(path) } else { try respawn(path) }
  }

  private func respawn(_ path: FilePath) throws {
    let command = [CommandLine.arguments[0], "--file", path.string, "--repeats", "\(repeats)"]
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    var child: pid_t = 0
    guard posix_spawn(&child, "/proc/self/exe", nil, nil, &arguments, environ) == 0 else {
      throw ExitCode.failure
    }
    waitpid(child, nil, 0)
    arguments.forEach { Glibc.free($0) }
  }

  private func measure(_ path: FilePath) throws {
    let clock = ContinuousClock()
    let before = Self.residentBytes()
    for _ in 0..<repeats {
      var replay: ReplayResult?
      var trace: Trace?
      let opening = try clock.measure { trace = try Trace(path: path) }
      let start = Self.cpuSeconds()
      let replaying = try clock.measure {
        replay = try trace?.replay()
      }
      guard let result = replay else { return }
      let (count, peak) = (result.eventCount, result.peak.count)
      let seconds = Self.cpuSeconds() - start
      let rate = (Double(count) / seconds / 1e6 * 10).rounded() / 10
      print(
        "open \(opening), replay \(replaying): \(rate) M events per CPU second; live at peak \(peak)"
      )
      let used = Self.residentBytes() - before
      print(
        "greatest resident memory \(Self.residentBytes()) bytes,",
        "\(Double(used) / Double(max(peak, 1))) per block live at peak;",
        "sites \(result.sites.count), errors \(result.errorCounts),",
        "implicitly freed \(result.coverage.implicitlyFreed),",
        "unknown frees \(result.coverage.unknownFrees)")
    }
  }

  /// CPU time so far: other processes on the machine take none of it.
  private static func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The greatest resident memory so far.
  private static func residentBytes() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024
  }
}

import CInterpose
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct ConfigTests {
  /// Reads these variables; returns the first bad one's name with the options.
  private func read(_ variables: [String]) -> (bad: String?, depth: UInt64, output: String) {
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { environment.forEach { free($0) } }
    let config = UnsafeMutablePointer<mt_config>.allocate(capacity: 1)
    defer { config.deallocate() }
    let bad = environment.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mt_config_read(config, $0) }
    }
    let output = withUnsafePointer(to: config.pointee.output) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 4096) { String(cString: $0) }
    }
    return (bad.map { String(cString: $0) }, config.pointee.depth, output)
  }

  @Test func defaults() {
    let result = read(["PATH=/bin"])
    #expect(result.bad == nil)
    #expect(result.depth == 128)
    #expect(result.output == "")
  }

  @Test func valuesAreTaken() {
    let result = read(["MEMTRACE_DEPTH=7", "MEMTRACE_OUTPUT=/tmp/a.mtrace"])
    #expect(result.bad == nil)
    #expect(result.depth == 7)
    #expect(result.output == "/tmp/a.mtrace")
  }

  @Test(arguments: ["0", "1025", "x", "99999999999999999999"])
  func aDepthOutOfRangeIsNamedAndItsDefaultUsed(_ value: String) {
    let result = read(["MEMTRACE_DEPTH=\(value)"])
    #expect(result.bad == "MEMTRACE_DEPTH")
    #expect(result.depth == 128)
  }

  /// The beginning of a path is another path.
  @Test func aTextThatIsTooLongIsNamedAndItsDefaultUsed() {
    let longest = "/" + String(repeating: "x", count: 4094)
    #expect(read(["MEMTRACE_OUTPUT=\(longest)"]) == (nil, 128, longest))
    #expect(read(["MEMTRACE_OUTPUT=\(longest)x"]) == ("MEMTRACE_OUTPUT", 128, ""))
  }

  @Test(arguments: ["2TiB", "-1", "k", "1.5KiB"])
  func aSampleOutOfRangeIsNamed(_ value: String) {
    #expect(read(["MEMTRACE_SAMPLE=\(value)"]).bad == "MEMTRACE_SAMPLE")
  }

  @Test(arguments: ["comparison", "AUTO", "auto ", "libunwind,compare"])
  func anUnwinderThatDoesNotExistIsNamed(_ value: String) {
    #expect(read(["MEMTRACE_UNWINDER=\(value)"]).bad == "MEMTRACE_UNWINDER")
  }

  @Test(arguments: ["zz", "0123456789abcdef", "0123456789abcdef0123456789abcdeg"])
  func aSessionThatIsNoneIsNamed(_ value: String) {
    #expect(read(["MEMTRACE_SESSION=\(value)"]).bad == "MEMTRACE_SESSION")
  }

  @Test func wordsThatMakeSenseAreTakenAndEmptyOnesAreNone() {
    let session = "0123456789abcdef0123456789ABCDEF"
    #expect(read(["MEMTRACE_UNWINDER=compare", "MEMTRACE_SESSION=\(session)"]).bad == nil)
    #expect(read(["MEMTRACE_UNWINDER=", "MEMTRACE_SESSION="]).bad == nil)
  }

  @Test func aNameIsNotMatchedByItsPrefix() {
    #expect(read(["MEMTRACE_DEPTHS=5"]).depth == 128)
  }
}

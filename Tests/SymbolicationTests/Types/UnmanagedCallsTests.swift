import Testing

@testable import Symbolication

@Suite struct UnmanagedCallsTests {
  @Test(arguments: [
    "  _ = Unmanaged.passUnretained(object).retain()", "  let box = Unmanaged.passRetained(object)",
    "    .passRetained(object)", "let pointer = passRetained(object).toOpaque()",
  ])
  func whatRetainsIsFound(line: String) {
    #expect(UnmanagedCalls.retains(in: line))
  }

  @Test(arguments: [
    "  use(object)", "  // Unmanaged.passRetained(object)", #"  print("reference.retain()")"#,
    "  Unmanaged.passUnretained(object).release()", "  retain()", "  pool.retain(object)",
    "  bypassRetained(object)", "",
  ])
  func nothingElseIs(line: String) {
    #expect(!UnmanagedCalls.retains(in: line))
  }
}

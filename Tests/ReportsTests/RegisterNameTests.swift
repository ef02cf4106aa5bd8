import Testing

@testable import Reports

/// Which register a word of a thread is of.
struct RegisterNameTests {
  @Test(arguments: [
    (0, 16, "rax"), (15, 272, "r15"), (16, 48, "xmm0"), (47, 48, "xmm15"), (48, 80, "ymm0"),
    (79, 80, "ymm15"), (80, 144, "zmm0"), (143, 144, "zmm15"), (144, 272, "zmm16"),
    (271, 272, "zmm31"), (0, 32, "x0"), (30, 96, "x30"), (31, 32, "sp"), (32, 96, "v0"),
    (95, 96, "v31"),
  ])
  func numbersOfWordsTellTheRegister(number: Int, count: Int, name: String) {
    #expect(RegisterName.text(number: number, of: count) == name)
  }
}

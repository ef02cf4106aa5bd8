import Testing

@testable import Symbolication

/// Texts that functions return, from the compiler to the text.
@Suite struct ReturnedTextTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func symbols(_ compiler: String, _ options: [String]) throws -> ImageSymbols {
    let program = try fixture.compile(
      "returned_texts.c", with: compiler, options, to: "program")
    let buildID = try ELFFile(path: program).buildID
    return ImageSymbols(
      path: program, buildID: buildID,
      locator: DebugFileLocator(directories: [], cache: nil, servers: nil), recordedAt: nil
    ) { Issue.record("\($0)") }
  }

  @Test(
    arguments: ["gcc", "clang"],
    [
      ["-O0"], ["-O2"], ["-O0", "-no-pie"], ["-O2", "-fcf-protection=full"], ["-O0", "--coverage"],
    ])
  func textsThatAreReturnedAreKnown(compiler: String, options: [String]) throws {
    // The coverage of clang needs a library that not every toolchain has.
    if compiler == "clang", options.contains("--coverage") { return }
    let symbols = try symbols(compiler, options)
    #expect(symbols.text(returnedBy: "literal") == .text("leak:one\nleak:two\n"))
    #expect(symbols.text(returnedBy: "of_array") == .text("leak:array\n"))
    let long = String(repeating: "leak:x\n", count: 1000)
    #expect(symbols.text(returnedBy: "long_text") == .text(long))
  }

  @Test(arguments: ["gcc", "clang"], ["-O0", "-O2"])
  func whatElseAFunctionDoesIsNotGuessed(compiler: String, option: String) throws {
    let symbols = try symbols(compiler, [option])
    for function in ["chosen", "of_variable", "called"] {
      #expect(symbols.text(returnedBy: function) == .unknown, "\(function)")
    }
    #expect(symbols.text(returnedBy: "none") == .text(""))
    #expect(symbols.text(returnedBy: "absent") == nil)
    // A variable is no function, and this one is defined elsewhere.
    #expect(symbols.text(returnedBy: "array") == nil)
    #expect(symbols.text(returnedBy: "__libc_start_main") == nil)
  }

  @Test func ofStrippedProgramsNothingIsKnown() throws {
    #expect(try symbols("gcc", ["-O2", "-s"]).text(returnedBy: "literal") == nil)
    let exported = try symbols("gcc", ["-O2", "-s", "-rdynamic"])
    #expect(exported.text(returnedBy: "literal") == .text("leak:one\nleak:two\n"))
  }
}

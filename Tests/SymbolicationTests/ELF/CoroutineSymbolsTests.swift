import Testing
import TraceReader

@testable import Symbolication

/// Coroutines of C++, from the compiler to the functions that make their frames.
@Suite struct CoroutineSymbolsTests {
  @Test func partsNameTheirFunctions() {
    var symbols = CoroutineSymbols()
    symbols.add("_Z4workv.resume")
    symbols.add("_ZN3app4pollEPZNS0_4pollEiE20_ZN3app4pollEi.Frame.actor")
    symbols.add("_Z4oddoPZ4odddvE9_Z4oddv.Frame.actor")
    symbols.add(".resume")
    #expect(symbols.compiler(of: "_Z4workv") == .clang)
    #expect(symbols.compiler(of: "_ZN3app4pollEi") == .gcc)
    #expect(symbols.compiler(of: "_Z4oddv") == nil)
    #expect(symbols.compiler(of: "_ZN3app4pollEi.Frame") == nil)
  }

  @Test(arguments: ["g++", "clang++"], ["-O0", "-O2"])
  func coroutinesOfProgramsAreKnown(compiler: String, option: String) throws {
    let fixture = try Fixture()
    let program = try fixture.compile(
      "coroutines.cpp", with: compiler, ["-std=c++20", "-g", option], to: "program")
    let symbols = CoroutineSymbols(files: [try ELFFile(path: program)])
    let known = symbols.compiler(of: "_ZN3app4workEi")
    #expect(known == (compiler == "g++" ? .gcc : .clang))
    #expect(symbols.compiler(of: "main") == nil)
  }
}

import Testing

@testable import Symbolication

/// Readable names of D.
@Suite struct DNamesTests {
  @Test(arguments: [
    ("_D3app4loadFiAyaZv", "app.load(int, immutable(char)[])", "app.load"),
    ("_D2d16Holder6__ctorMFmZCQwQv", "d1.Holder.this(ulong)", "d1.Holder.this"),
    ("_D3app4sizeMxFZv", "app.size() const", "app.size"),
    (
      "_D3app__T4makeTiZQiFiZPi", "app.make!(int).make(int)", "app.make!(int).make"
    ),
    ("_Dmain", "D main", "D main"),
  ])
  func namesAreReadable(symbol: String, short: String, base: String) {
    let name = Demangler.name(of: symbol)
    #expect(name.short == short && name.full == short && name.raw == symbol)
    #expect(name.base == base)
    #expect(name.language == .d)
  }

  @Test(arguments: ["_D", "_Dx", "_D3ap", "_DYNAMIC"])
  func othersStayAsTheyAre(symbol: String) {
    #expect(Demangler.name(of: symbol).short == symbol)
    #expect(Demangler.name(of: symbol).language == .plain)
  }

  /// Each part stands for the one before it, twice.
  @Test func namesThatWouldBecomeTooLongStayAsTheyAre() {
    func symbol(_ count: Int) -> String {
      "_D1a1fFHiiHQeQg" + String(repeating: "HQgQi", count: count) + "Zv"
    }
    let name = Demangler.name(of: symbol(1)).short
    #expect(name == "a.f(int[int], int[int][int[int]], int[int][int[int]][int[int][int[int]]])")
    for count in [9, 40, 800] {
      #expect(Demangler.name(of: symbol(count)).short == symbol(count))
    }
  }

  /// The demangler calls itself for each level, on a stack that has an end.
  @Test func namesThatNestDeepStayAsTheyAre() {
    let symbol = "_D3app4loadF" + String(repeating: "FPFZ", count: 200_000) + "iZv"
    #expect(Demangler.name(of: symbol).short == symbol)
  }

  @Test func theStandardLibraryIsNoCodeOfTheProgram() {
    for (symbol, isRuntime) in [
      ("_D4core6memory2GC6callocFNbkkxC8TypeInfoZPv", true),
      ("_D2rt8lifetime6_d_newFZv", true), ("_D3std5array5arrayFZv", true),
      ("_D3app4loadFiAyaZv", false), ("_D9standards4loadFZv", false),
    ] {
      #expect(RuntimeNames.isRuntime(Demangler.name(of: symbol)) == isRuntime, "\(symbol)")
    }
  }
}

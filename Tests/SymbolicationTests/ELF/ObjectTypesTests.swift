import Testing
import TraceReader

@testable import Symbolication

/// The types of what C code allocates by a variable's name, from the compiler to the name.
@Suite struct ObjectTypesTests {
  private static let bias: UInt64 = 0x7f00_0000_0000

  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
  }

  /// The types that the calls of malloc in a program allocate, by line.
  private func types(in program: String) throws -> [Int: String] {
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    let image = Image.of(program, bias: Self.bias)
    var found: [Int: String] = [:]
    var isCalled = false
    for line in try Fixture.run("objdump", ["-d", program]).split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":"),
        let address = UInt64(line[..<colon].drop(while: \.isWhitespace), radix: 16)
      else { continue }
      if isCalled {
        let place = Address(address + Self.bias)
        let frame = try #require(
          symbolicator.frames(at: place, in: image, isExact: false).first)
        let site = AllocationSite(
          programCounter: place, isExact: false, position: 0, frame: frame, isNew: false)
        found[frame.location?.line ?? 0] =
          symbolicator.allocatedType(at: site, in: image)?.short ?? "unknown"
      }
      isCalled = line.contains("<malloc@plt>") && line.contains("call")
    }
    return found
  }

  @Test(
    arguments: ["gcc", "clang"], [["-O0"], ["-O1"], ["-O2"], ["-O2", "-gdwarf-4"]])
  func variablesSayWhatIsAllocated(compiler: String, options: [String]) throws {
    let program = try fixture.compile(
      "objects.c", with: compiler, ["-g"] + options, to: "program")
    #expect(
      try types(in: program)
        == [29: "struct part[]", 37: "List", 41: "double", 44: "color", 53: "ListPointer"])
  }

  @Test func withoutVariablesNothingIsSaid() throws {
    let program = try fixture.compile("objects.c", with: "gcc", ["-g1"], to: "program")
    #expect(Set(try types(in: program).values) == ["unknown"])
  }

  /// At the call in `main`.
  @Test(arguments: [
    ("lists", "ListPointer *"), ("*lists", "ListPointer"), ("**lists", "List"),
    ("lists[0]->first", "struct part *"), ("*(*lists)->first", "struct part"),
    ("lists[0]->all[1]", "struct part *"), ("*lists[0]->newest", "struct part"),
    ("*global->label", "struct label"), ("global->next->number", "long int"),
    ("names", "char *[]"), ("names[0]", "char *"), ("*names[0]", "char"), ("List", "List"),
    ("color", "color"), ("struct", nil), ("missing", nil), ("lists->first", nil),
    ("**global", nil), ("global->text", nil), ("global->label->text", "char[]"), ("*List", nil),
  ])
  func membersAndElements(expression: String, expected: String?) throws {
    let program = try fixture.compile("objects.c", with: "gcc", ["-g", "-O0"], to: "program")
    let object = try #require(ObjectExpression(expression))
    let symbols = ImageSymbols(
      path: program, buildID: try ELFFile(path: program).buildID,
      locator: DebugFileLocator(directories: []), recordedAt: nil
    ) { _ in }
    let main = try Fixture.symbol("main", in: program)
    #expect(symbols.typeName(of: object, at: main + 8, in: 0) == expected)
    #expect(symbols.typeName(of: object, at: main + 8, in: 1) == nil)
  }
}

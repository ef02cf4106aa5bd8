import Foundation
import Testing
import TraceReader

@testable import Symbolication

@Suite("Symbolication from ELF and DWARF")
struct ELFSymbolicatorTests {
  private let fixture: Fixture
  private let symbolicator = ELFSymbolicator(debugDirectories: [])

  init() throws {
    fixture = try Fixture()
  }

  @Test(
    "inlined calls have frames of their own, innermost first",
    arguments: [
      ("gcc", "-gdwarf-4"), ("gcc", "-gdwarf-5"), ("clang", "-gdwarf-4"),
      ("clang", "-gdwarf-5"), ("gcc", "-gz"), ("clang", "-gline-tables-only"),
    ])
  func inlining(compiler: String, option: String) throws {
    let program = try fixture.compile(
      "inlining.c", with: compiler, ["-O2", "-g", option], to: "program")
    let frames = symbolicator.frames(try Fixture.symbol("probe", in: program), in: program)

    #expect(frames.map(\.displayName) == ["innermost", "middle", "outer"])
    #expect(frames.map(\.isInlined) == [true, true, false])
    #expect(frames.map { $0.location?.fileName } == Array(repeating: "inlining.c", count: 3))
    #expect(frames.map { $0.location?.line } == [6, 11, 15])
    #expect(frames[0].location?.path.hasPrefix("/") == true)
    #expect(frames[2].functionOffset != nil)
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test(
    "what is left of a header's function that nobody names is the line before it of the function",
    arguments: ["-O0", "-O2"])
  func leftovers(option: String) throws {
    let program = try fixture.compile("leftovers.c", with: "gcc", [option, "-g"], to: "program")
    let frames = symbolicator.frames(try Fixture.symbol("probe", in: program), in: program)

    #expect(frames.map(\.displayName) == ["outer"])
    #expect(frames.map { $0.location?.fileName } == ["leftovers.c"])
    #expect(frames.map { $0.location?.line } == [13])
    #expect(frames.map(\.role) == [.user])
  }

  @Test(
    "functions of C that allocate for their callers are told by how they are declared",
    arguments: [("gcc", "-gdwarf-4"), ("gcc", "-gdwarf-5"), ("clang", "-gdwarf-5")])
  func allocationWrappers(compiler: String, option: String) throws {
    let program = try fixture.compile(
      "wrappers.c", with: compiler, ["-O2", "-g", option, "-w"], to: "program")
    let wrappers = [
      "pool_alloc", "counted_calloc", "byte_alloc", "const_alloc", "copy_strdup", "my_malloc",
      "pool_free", "my_free",
    ]
    let others = [
      "node_free", "any_free", "double_free", "counted_free",
      "alloc_node", "alloc_defaults", "leak_malloc", "alloc_numbers", "alloc_named", "list_malloc",
      "worker", "find_text", "allocation_text",
    ]
    #expect(try allocationWrappers(among: wrappers + others, of: program) == wrappers)
    let inlined = symbolicator.frames(try Fixture.symbol("probe", in: program), in: program)
    #expect(inlined.map(\.baseName) == ["zero_alloc", "caller"])
    #expect(inlined.map(\.isAllocationWrapper) == [true, false])
  }

  private func allocationWrappers(among names: [String], of program: String) throws -> [String] {
    try names.filter { name in
      let address = try Fixture.symbol(name, in: program)
      let frame = try #require(symbolicator.frames(address, in: program).last)
      #expect(frame.baseName == name)
      return frame.isAllocationWrapper
    }
  }

  @Test(
    "by their names where debug information has no declarations",
    arguments: [("gcc", "-g1"), ("clang", "-gline-tables-only")])
  func allocationWrappersWithoutDeclarations(compiler: String, option: String) throws {
    let program = try fixture.compile(
      "wrappers.c", with: compiler, ["-O2", option, "-w"], to: "program")
    let wrappers = ["counted_calloc", "copy_strdup", "my_malloc"]
    let others = ["pool_alloc", "alloc_node", "leak_malloc", "worker"]

    #expect(try allocationWrappers(among: wrappers + others, of: program) == wrappers)
  }

  @Test(
    "and those of C++",
    arguments: [("g++", "-g"), ("g++", "-fdebug-types-section"), ("clang++", "-g")])
  func allocationWrappersOfClasses(compiler: String, option: String) throws {
    let program = try fixture.compile(
      "wrappers.cpp", with: compiler, ["-O1", "-g", option, "-std=c++17"], to: "program")
    let found = try ["Allocate", "AllocateAligned", "Reallocate"].map { name in
      let function = try Fixture.symbol(in: program) { $0.contains("\(name.count)\(name)") }
      return symbolicator.frames(function.address, in: program).last
    }
    #expect(
      found.map { $0?.baseName } == [
        "db::Arena::Allocate", "db::Arena::AllocateAligned", "db::Arena::Reallocate",
      ])
    #expect(found.map { $0?.isAllocationWrapper } == [true, true, false])
  }

  @Test("the line of a return address is that of the call")
  func returnAddresses() throws {
    let program = try fixture.compile("inlining.c", with: "gcc", ["-O2", "-g"], to: "program")
    let function = try Fixture.symbol(in: program) { $0 == "never_returns" }
    let end = function.address + function.size

    #expect(symbolicator.frames(end, in: program, isExact: false)[0].baseName == "never_returns")
    #expect(symbolicator.frames(end, in: program, isExact: false)[0].location?.line == 20)
    #expect(symbolicator.frames(end, in: program, isExact: true)[0].baseName != "never_returns")
  }

  @Test("without debug information there are symbols")
  func symbols() throws {
    let program = try fixture.compile("inlining.c", with: "gcc", ["-O2"], to: "program")
    let address = try Fixture.symbol("outer", in: program) + 4
    let frames = symbolicator.frames(address, in: program)

    #expect(frames.map(\.displayName) == ["outer"])
    #expect(frames[0].functionOffset == 4)
    #expect(frames[0].location == nil)
  }

  @Test("a stripped program has offsets, a stripped library its exports")
  func stripped() throws {
    let program = try fixture.compile("inlining.c", with: "gcc", ["-O2", "-g"], to: "program")
    let address = try Fixture.symbol("outer", in: program)
    try Fixture.run("strip", [program])
    let library = try fixture.compile("plugin.c", with: "gcc", ["-shared", "-fPIC"], to: "lib.so")
    let exported = try Fixture.symbol("plugin_function", in: library)
    try Fixture.run("strip", [library])

    let frame = symbolicator.frames(address, in: program)[0]
    #expect(frame.displayName == "program+0x\(String(address, radix: 16))")
    #expect(frame.imageOffset == address)
    #expect(symbolicator.frames(exported, in: library)[0].displayName == "plugin_function")
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test("an address in no image, or in the kernel's, has no warning")
  func noImage() {
    let frames = symbolicator.frames(at: Address(0x1234), in: nil, isExact: false)
    #expect(frames.map(\.displayName) == ["0x1234"])
    let kernel = symbolicator.frames(
      at: Address(0x1234), in: .of("linux-vdso.so.1", bias: 0x1000), isExact: false)
    #expect(kernel.map(\.displayName) == ["linux-vdso.so.1+0x234"])
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test("a library that was unloaded is found by its path and load bias")
  func unloaded() throws {
    let library = try fixture.compile(
      "plugin.c", with: "gcc", ["-shared", "-fPIC", "-g"], to: "plugin.so")
    let loader = try fixture.compile("loader.c", with: "gcc", ["-ldl"], to: "loader")
    let numbers = try Fixture.run(loader, [library]).split { $0 == " " || $0 == "\n" }
      .compactMap { UInt64($0) }
    try #require(numbers.count == 2)

    let frames = symbolicator.frames(
      at: Address(numbers[1]), in: .of(library, bias: numbers[0]), isExact: true)
    #expect(frames.map(\.displayName) == ["plugin_function"])
    #expect(frames[0].location?.line == 2)
  }

  @Test("C++ names come demangled, and inlined allocator code is known as such")
  func cxx() throws {
    let program = try fixture.compile("names.cpp", with: "g++", ["-O2", "-g"], to: "program")
    let parse = try Fixture.symbol(in: program) { $0.contains("Parser5parse") }.address
    let total = try Fixture.symbol(in: program) { $0.contains("total") }.address

    let frame = symbolicator.frames(parse, in: program).last
    #expect(frame?.displayName == "app::Parser::parse(std::string const&)")
    #expect(frame?.function?.raw.hasPrefix("_ZN3app6Parser5parse") == true)
    #expect(
      symbolicator.frames(total, in: program).last?.displayName
        == "unsigned long app::total<int>(std::vector<int> const&)"
        || symbolicator.frames(total, in: program).last?.displayName
          == "app::total<int>(std::vector<int> const&)"
    )

    let fill = try Fixture.symbol(in: program) { $0.contains("4fill") }
    let roles = (fill.address..<fill.address + fill.size).map {
      symbolicator.frames($0, in: program)
    }.filter { $0.count > 1 }
    let deepest = try #require(roles.max { $0.count < $1.count })
    #expect(deepest.dropLast().allSatisfy { $0.role == .runtime })
    #expect(ResponsibleFrame.find(in: deepest)?.baseName == "fill")
  }

  @Test("a lambda is named after the function it is in", arguments: ["g++", "clang++"])
  func lambda(compiler: String) throws {
    let program = try fixture.compile("names.cpp", with: compiler, ["-O2", "-g"], to: "program")
    let frames = symbolicator.frames(try Fixture.symbol("probe", in: program), in: program)

    try #require(frames.count == 2)
    #expect(frames[0].baseName.hasPrefix("make"))
    #expect(frames[0].baseName.hasSuffix("::operator()"))
    #expect(frames[0].isInlined)
    #expect(frames[1].displayName == "make(int)")
  }

  @Test(
    "functions without mangled names are named after what they are declared in",
    arguments: [
      ("g++", "-gdwarf-5", "app::load::<lambda>"), ("g++", "-flto", "app::load::<lambda>"),
      ("clang++", "-gdwarf-5", "app::load::$_0"),
    ])
  func scopes(compiler: String, option: String, lambda: String) throws {
    let program = try fixture.compile(
      "scopes.cpp", with: compiler, ["-O2", "-g", option], to: "program")
    let frames = symbolicator.frames(try Fixture.symbol("probe", in: program), in: program)
    #expect(
      frames.map(\.baseName) == [
        "app::mark", "app::(anonymous namespace)::Worker::run", "\(lambda)::operator()",
        "app::load",
      ])
  }

  @Test(
    "the C library's exported names are preferred to its inner ones",
    .enabled(if: Fixture.hasLibraryDebugFiles, "needs libc6-dbg"))
  func exportedNames() throws {
    let libc = "/lib/x86_64-linux-gnu/libc.so.6"
    let symbolicator = ELFSymbolicator()
    for name in ["strdup", "fopen", "malloc", "printf"] {
      let address = try Fixture.symbol(in: libc, options: ["-D"]) {
        $0 == name || $0.hasPrefix("\(name)@@")
      }.address
      #expect(symbolicator.frames(address, in: libc).last?.displayName == name)
    }
  }

  @Test("Rust names come demangled", .enabled(if: Fixture.find("rustc") != nil, "needs rustc"))
  func rust() throws {
    let program = try fixture.compile(
      "demo.rs", with: "rustc", ["-g", "-C", "opt-level=1"], to: "program")
    let make = try Fixture.symbol(in: program) { $0.contains("4make17h") }.address
    let double = try Fixture.symbol(in: program) { $0.contains("6double17h") }.address

    let frame = try #require(symbolicator.frames(make, in: program).last)
    #expect(frame.displayName == "demo::make")
    #expect(frame.location?.fileName == "demo.rs")
    #expect(
      symbolicator.frames(double, in: program).last?.displayName
        == "<demo::Node as demo::Double>::double")
  }

  @Test("Swift names come demangled", .enabled(if: Fixture.find("swiftc") != nil, "needs swiftc"))
  func swift() throws {
    let program = try fixture.compile(
      "demo.swift", with: "swiftc", ["-g", "-Onone", "-module-name", "demo"], to: "program")
    let insert = try Fixture.symbol(in: program) { $0 == "$s4demo5StoreC6insert5count_ySi_SitF" }
    let closure = try Fixture.symbol(in: program) {
      $0.hasPrefix("$s4demo5StoreC6insert5count_ySi_SitF") && $0.contains("U_")
    }

    let frame = try #require(symbolicator.frames(insert.address + 8, in: program).last)
    #expect(frame.displayName == "Store.insert(count:_:)")
    #expect(frame.location?.fileName == "demo.swift")
    #expect(
      symbolicator.frames(closure.address + 8, in: program).last?.displayName
        == "closure #1 in Store.insert(count:_:)")
  }

  @Test(
    "What the compiler made within a function is in its file", arguments: ["-Onone", "-O"])
  func compilerGenerated(optimization: String) throws {
    let program = try fixture.compile(
      "demo.swift", with: "swiftc", ["-g", optimization, "-module-name", "demo"], to: "program")
    let function = try Fixture.symbol(in: program) { $0 == "$s4demo9countDownyyF" }
    for address in function.address..<function.address + function.size {
      let frame = try #require(symbolicator.frames(address, in: program).last)
      #expect(frame.location?.fileName == "demo.swift")
      #expect(frame.location.map { (12...17).contains($0.line) } == true)
    }
  }

  @Test("What the compiler made has no line of another function that is inlined nearby")
  func compilerGeneratedBesideInlined() throws {
    let program = try fixture.compile(
      "inlined.swift", with: "swiftc", ["-g", "-O", "-module-name", "demo"], to: "program")
    func frames(of prefix: String) throws -> [SymbolicatedFrame] {
      let function = try Fixture.symbol(in: program) { $0.hasPrefix(prefix) }
      // Behind the first instruction, which has the line of the function itself.
      let code = function.address + 1..<function.address + function.size
      return code.compactMap { symbolicator.frames($0, in: program).first }
    }
    let made = try frames(of: "$s4demo4makeA")
    let nodes = made.filter { $0.displayName == "Node.__allocating_init(_:)" }
    #expect(Set(nodes.map { $0.location?.line }) == [5])
    let counters = made.filter { $0.displayName == "Counter.__allocating_init()" }
    #expect(!counters.isEmpty)
    #expect(counters.allSatisfy { $0.location?.fileName != "_SynchronizationShims.h" })

    let own = try frames(of: "$s4demo4fillyy").filter { !$0.isInlined }
    #expect(!own.isEmpty && own.allSatisfy { (21...23).contains($0.location?.line ?? 0) })
  }
}

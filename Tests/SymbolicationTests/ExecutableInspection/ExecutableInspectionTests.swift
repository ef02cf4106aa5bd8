import Foundation
import Testing

@testable import Symbolication

@Suite("Inspection of executables")
struct ExecutableInspectionTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
  }

  private func inspect(_ command: String, searchPath: String? = nil) -> ExecutableInspection {
    ExecutableInspection(command: command, searchPath: searchPath)
  }

  private func kinds(_ command: String) -> [ExecutableFinding.Kind] {
    inspect(command).findings.map(\.kind)
  }

  private func write(_ text: String, to name: String, mode: Int = 0o755) throws -> String {
    let path = fixture.path(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  private func compile(_ options: [String] = [], to name: String = "program") throws -> String {
    try fixture.compile("inlining.c", with: "gcc", options, to: name)
  }

  @Test("an ordinary program has no findings")
  func ordinary() throws {
    let program = try compile()
    let inspection = inspect(program)
    #expect(inspection.findings.isEmpty)
    #expect(inspection.isRecordable)
    #expect(inspection.executablePath == program)
    #expect(inspection.chain == [program])
  }

  @Test("a command without slash is looked up on PATH")
  func searchPath() throws {
    let program = try compile(to: "tool")
    let text = try write("", to: "other", mode: 0o644)
    let path = "/nonexistent:\(fixture.folder.path)"
    #expect(inspect("tool", searchPath: path).path == program)
    #expect(inspect("nothing", searchPath: path).findings.map(\.kind) == [.notFound])
    #expect(
      inspect("other", searchPath: path).findings
        == [ExecutableFinding(kind: .notExecutable, path: text)])
    #expect(inspect("sh").isRecordable)
    #expect(kinds("") == [.notFound])
  }

  @Test("what cannot be run is told apart")
  func notRunnable() throws {
    #expect(kinds("/nonexistent/program") == [.notFound])
    #expect(kinds(fixture.folder.path) == [.notExecutable])
    #expect(kinds(try write("hello", to: "text", mode: 0o644)) == [.notExecutable])
    #expect(kinds(try write("hello", to: "run")) == [.notELF])
    #expect(kinds(try write("", to: "empty")) == [.notELF])
    #expect(inspect(try write("hello", to: "run2")).executablePath == nil)
  }

  @Test("scripts lead to their interpreter, through env and other scripts")
  func scripts() throws {
    let plain = try write("#!/bin/sh -e\n", to: "plain")
    let nested = try write("#! \(plain)\n", to: "nested")
    let env = try write("#!/usr/bin/env -S X=1 sh -u\n", to: "env")
    #expect(inspect(plain).chain == [plain, "/bin/sh"])
    #expect(inspect(nested).chain == [nested, plain, "/bin/sh"])
    #expect(inspect(env, searchPath: "/bin").chain == [env, "/usr/bin/env", "/bin/sh"])
    #expect(inspect(env, searchPath: "/bin").executablePath == "/bin/sh")
    #expect(inspect(nested).isRecordable)
  }

  @Test("scripts without end have a reason")
  func brokenScripts() throws {
    let missing = try write("#!/nonexistent/interpreter\n", to: "missing")
    #expect(kinds(missing) == [.missingInterpreter("/nonexistent/interpreter")])
    let loop = fixture.path("loop")
    _ = try write("#!\(loop)\n", to: "loop")
    #expect(kinds(loop) == [.missingInterpreter(loop)])
    #expect(kinds(try write("#!  \n", to: "blank")) == [.notELF])
    let env = try write("#!/usr/bin/env no-such-language\n", to: "env")
    #expect(kinds(env) == [.missingInterpreter("no-such-language")])
  }

  @Test("static programs cannot be recorded", arguments: ["-static", "-static-pie"])
  func staticallyLinked(option: String) throws {
    let inspection = inspect(try compile([option]))
    #expect(inspection.findings.map(\.kind).first == .staticallyLinked)
    #expect(!inspection.isRecordable)
  }

  @Test("the dynamic linker preloads for the program that it is told to run")
  func loader() throws {
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
    let loader = try #require(loaders.first { FileManager.default.fileExists(atPath: $0) })
    #expect(inspect(loader).isRecordable)
  }

  @Test("programs for other machines cannot be recorded")
  func foreignMachine() throws {
    let program = try compile()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: program)))
    bytes[18] = 243  // e_machine: RISC-V
    let foreign = fixture.path("foreign")
    try Data(bytes).write(to: URL(fileURLWithPath: foreign))
    #expect(kinds(foreign).isEmpty == false)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: foreign)
    #expect(kinds(foreign) == [.foreignArchitecture(machine: "riscv")])
  }

  @Test("32-bit programs cannot be recorded")
  func narrow() throws {
    // e_ident, then e_type EXEC, e_machine 386, e_version, and the sizes of a 32-bit header.
    var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 1, 1, 1] + Array(repeating: 0, count: 9)
    bytes += [2, 0, 3, 0, 1, 0, 0, 0] + Array(repeating: 0, count: 16) + [52, 0, 32, 0, 0, 0]
    bytes += [40, 0, 0, 0, 0, 0]
    let path = fixture.path("narrow")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    #expect(kinds(path) == [.foreignArchitecture(machine: "i386")])
  }

  @Test("set-ID programs of another user or group cannot be recorded")
  func setID() throws {
    let program = try compile()
    let owner = ProcessIdentity.current
    let other = ProcessIdentity(realUser: 54321, effectiveUser: 54321, effectiveGroup: 54321)
    func kinds(_ mode: Int, _ identity: ProcessIdentity) throws -> [ExecutableFinding.Kind] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: program)
      return ExecutableInspection(command: program, searchPath: nil, identity: identity)
        .findings.map(\.kind)
    }
    #expect(try kinds(0o4755, other) == [.setUserID])
    #expect(try kinds(0o4755, owner) == [])
    #expect(try kinds(0o2755, other) == [.setGroupID])
    #expect(try kinds(0o2745, other) == [])
    #expect(try kinds(0o755, other) == [])
  }

  @Test("programs of another libc cannot be recorded")
  func musl() throws {
    let program = try compile()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: program)))
    let glibc = Array("/lib64/ld-linux-x86-64.so.2".utf8)
    let musl = Array("/lib/ld-musl-x86_64.so.1\0\0\0".utf8)
    let start = try #require(
      bytes.indices.first { bytes[$0...].starts(with: glibc) }, "an x86-64 program")
    bytes.replaceSubrange(start..<start + glibc.count, with: musl)
    try Data(bytes).write(to: URL(fileURLWithPath: program))
    #expect(kinds(program) == [.foreignLibc(interpreter: "/lib/ld-musl-x86_64.so.1")])
  }

  @Test(
    "sanitizers are recognized by library or symbol",
    arguments: [
      ("gcc", "address", "AddressSanitizer"), ("clang", "address", "AddressSanitizer"),
      ("gcc", "thread", "ThreadSanitizer"), ("gcc", "leak", "LeakSanitizer"),
    ])
  func sanitizers(compiler: String, option: String, name: String) throws {
    let program: String
    do {
      program = try fixture.compile(
        "inlining.c", with: compiler, ["-fsanitize=\(option)"], to: "program")
    } catch is ToolError {
      return  // the compiler's run-time libraries are packages of their own
    }
    #expect(kinds(program) == [.sanitizer(name)])
  }

  @Test("allocators that are linked in are named, by export or by symbol")
  func bundledAllocators() throws {
    func allocators(_ source: String, _ options: [String] = []) throws -> [BundledAllocator] {
      let path = try write(source, to: "allocator.c")
      let program = fixture.path("bundled")
      try Fixture.run("gcc", ["-fno-builtin", path, "-o", program] + options)
      let inspection = inspect(program)
      #expect(inspection.isRecordable)
      return inspection.findings.compactMap {
        if case .bundledAllocator(let allocator) = $0.kind { allocator } else { nil }
      }
    }
    let malloc = "char a[99]; void *malloc(unsigned long n) { return a; } "
    let main = "int main(void) { return 0; }"
    #expect(
      try allocators(malloc + main)
        == [BundledAllocator(name: "own malloc", symbol: "malloc", replacesMalloc: true)])
    #expect(
      try allocators(malloc + "void *mallocx(unsigned long n) { return a; } " + main)
        == [BundledAllocator(name: "jemalloc", symbol: "mallocx", replacesMalloc: true)])
    #expect(
      try allocators(
        "static void *_rjem_malloc(void) { return 0; } "
          + "int main(void) { return _rjem_malloc() != 0; }")
        == [BundledAllocator(name: "jemalloc", symbol: "_rjem_malloc", replacesMalloc: false)])
    #expect(
      try allocators("void *mi_malloc(void) { return 0; } " + main).map(\.name) == ["mimalloc"])
    #expect(
      try allocators("void *_Znwm(unsigned long n) { return 0; } " + main).map(\.symbol)
        == ["_Znwm"])
    #expect(try allocators(main).isEmpty)
    let message = "const char text[] = \"<jemalloc>: Error in munmap()\"; " + main
    #expect(try allocators(message).isEmpty)
    #expect(
      try allocators(message, ["-s"])
        == [BundledAllocator(name: "jemalloc", symbol: "", replacesMalloc: false)])
  }

  @Test("a static libstdc++ is no allocator of its own, but its operators are not seen")
  func staticLibrary() throws {
    func compile(_ options: [String]) throws -> String {
      try fixture.compile("names.cpp", with: "g++", options, to: "program")
    }
    #expect(kinds(try compile(["-static-libstdc++"])) == [.bundledOperators])
    #expect(inspect(fixture.path("program")).isRecordable)
    // The recorder finds what is exported.
    #expect(kinds(try compile(["-static-libstdc++", "-rdynamic"])).isEmpty)
    #expect(kinds(try compile([])).isEmpty)
  }

  @Test("each finding is one line that says what to do")
  func texts() {
    let finding = ExecutableFinding(kind: .staticallyLinked, path: "./server")
    #expect(
      finding.description
        == "./server is linked statically, so that no library can be preloaded into it; "
        + "link it dynamically: without -static and -static-pie")
    #expect(
      ExecutableFinding(kind: .bundledOperators, path: "app").description
        == "app has the C++ library linked in, so that operator new and delete are recorded as the "
        + "malloc and free that they call; link it without -static-libstdc++ to have mismatches of "
        + "them reported")
    let new = BundledAllocator(name: "own operator new", symbol: "_Znwm", replacesMalloc: true)
    #expect(
      ExecutableFinding(kind: .bundledAllocator(new), path: "app").reason
        == "defines operator new(unsigned long) itself, so that its own calls of it are not recorded"
    )
    let stripped = BundledAllocator(name: "jemalloc", symbol: "", replacesMalloc: false)
    #expect(
      ExecutableFinding(kind: .bundledAllocator(stripped), path: "ruff").description
        == "ruff has jemalloc linked in: what it allocates by it is not recorded; record it with "
        + "--bundled-allocator before it is stripped")
    let allocator = BundledAllocator(name: "jemalloc", symbol: "je_malloc", replacesMalloc: true)
    #expect(
      ExecutableFinding(kind: .bundledAllocator(allocator), path: "redis-server").reason
        == "has jemalloc linked in as its malloc, so that its own calls of it are not recorded")
  }
}

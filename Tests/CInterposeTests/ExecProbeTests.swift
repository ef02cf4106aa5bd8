import CInterpose
import Foundation
import Testing

@Suite struct ExecProbeTests {
  /// Writes a file and returns what the probe says of it.
  private func probe(_ bytes: [UInt8], named name: String = "memtrace-probe") throws -> String? {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "\(name)-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(bytes).write(to: URL(filePath: path))
    return mt_exec_probe(path).map { String(cString: $0) }
  }

  /// An ELF header with these fields and nothing behind it.
  private func elf(bits: UInt8, machine: UInt16) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes.replaceSubrange(0..<4, with: [0x7f, 0x45, 0x4c, 0x46])
    bytes[4] = bits
    bytes[18] = UInt8(machine & 0xff)
    bytes[19] = UInt8(machine >> 8)
    bytes[54] = 56
    return bytes
  }

  @Test func aDynamicProgramAndAScriptCanBeRecorded() throws {
    #expect(mt_exec_probe("/bin/sh") == nil)
    #expect(try probe(Array("#! /bin/sh\ntrue\n".utf8)) == nil)
  }

  @Test func whatIsNoProgramIsLeftToExec() throws {
    #expect(mt_exec_probe("/nonexistent/program") == nil)
    #expect(try probe([]) == nil)
    #expect(try probe(Array("just text".utf8)) == nil)
  }

  @Test func anotherArchitectureIsNamed() throws {
    let expected = "built for another architecture"
    #expect(try probe(elf(bits: 1, machine: 3)) == expected)
    #expect(try probe(elf(bits: 2, machine: 243)) == expected)
  }

  @Test func aProgramWithoutLoaderIsStatic() throws {
    #if arch(x86_64)
      let machine: UInt16 = 62
    #else
      let machine: UInt16 = 183
    #endif
    let bytes = elf(bits: 2, machine: machine)
    #expect(try probe(bytes)?.hasPrefix("statically linked") == true)
    // It has none either, and would refuse the library for what it runs.
    #expect(
      try probe(bytes, named: "ld-musl-x86_64.so.1")
        == "linked with musl libc, which cannot load a glibc library")
  }

  @Test func namesAreSearchedInThePath() {
    #expect(mt_exec_probe_in_path("sh", "/nonexistent:/bin") == nil)
    #expect(mt_exec_probe_in_path("no-such-command", "/bin") == nil)
    #expect(mt_exec_probe_in_path("sh", nil) == nil)
  }

  /// exec passes over what it cannot execute, such as a folder.
  @Test func theProgramMeantIsTheFirstThatIsAFile() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "memtrace-probe-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["first/program", "second"] {
      try FileManager.default.createDirectory(
        at: folder.appending(path: name), withIntermediateDirectories: true)
    }
    let program = folder.appending(path: "second/program")
    try Data(elf(bits: 1, machine: 3)).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    let path = "\(folder.path)/first:\(folder.path)/second"
    let reason = mt_exec_probe_in_path("program", path).map { String(cString: $0) }
    #expect(reason == "built for another architecture")
  }
}

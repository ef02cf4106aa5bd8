import Testing

@testable import Symbolication

/// What is said where a report lacks names.
@Suite struct MissingNamesTests {
  private func warnings(
    _ paths: [String], _ reason: SymbolicationWarning.Reason = .missingFile, inRoot: Bool = false
  ) -> [SymbolicationWarning] {
    paths.map { SymbolicationWarning(imagePath: $0, reason: reason, isInSystemRoot: inRoot) }
  }

  @Test func manyFilesAreToldInOneLine() {
    let paths = ["/opt/app", "/lib/liba.so", "/lib/libb.so", "/lib/libc.so", "/lib/libd.so"]
    let what = "their frames have offsets instead of names: they are not here, or of other builds"
    #expect(MissingNames([]).lines.isEmpty)
    #expect(
      MissingNames(warnings(Array(paths.prefix(1)))).lines == [
        "/opt/app is gone: its frames have offsets instead of names"
      ])
    #expect(
      MissingNames(warnings(Array(paths.prefix(2)))).lines == ["app and liba.so: \(what)"])
    #expect(
      MissingNames(warnings(paths)).lines == ["app, liba.so, libb.so and 2 more: \(what)"])
  }

  @Test func doubtfulNamesAreToldApart() {
    let missing = MissingNames(
      warnings(["/opt/app"], .newerThanTrace) + warnings(["/lib/liba.so"])
        + warnings(["/opt/tool"], .newerThanTrace))
    #expect(
      missing.lines == [
        "/lib/liba.so is gone: its frames have offsets instead of names",
        "app and tool: their names may be wrong: they are newer than the trace and have no build ID",
      ])
  }

  @Test func whereElseNamesAreIsSaidToWhoHasNotSaidIt() {
    #expect(MissingNames(warnings(["/opt/app"])).advice?.contains("--sysroot") == true)
    #expect(MissingNames(warnings(["/opt/app"], inRoot: true)).advice == nil)
    #expect(MissingNames(warnings(["/opt/app"], .newerThanTrace)).advice == nil)
  }
}

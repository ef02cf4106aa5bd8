import Reports
import Testing

@Suite struct TraceSummaryTests {
  @Test(arguments: [
    ("/usr/bin/crun", ["/opt/other", "list"], "crun"),
    ("/", ["/usr/bin/crun", "list"], "crun"),
    ("/memfd:runc_cloned:/proc/self/exe (deleted)", ["runc", "init"], "runc"),
    ("/", [], "/"), ("/", [""], "/"), ("", [], ""), ("", ["/usr/bin/crun"], ""),
  ])
  func aCopyWithoutAFileIsNamedByWhatItWasCalledBy(
    executable: String, arguments: [String], name: String
  ) {
    let summary = TraceSummary(file: nil, executable: executable, arguments: arguments)
    #expect(summary.programName == name)
  }
}

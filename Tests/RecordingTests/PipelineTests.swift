import Foundation
import SystemPackage
import Testing
import TraceTestSupport

/// The GitHub Action and the GitLab template, run step by step as a runner does it.
@Suite(
  .enabled(
    if: FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/yaml"),
    "needs python3-yaml: scripts/test installs it"))
struct PipelineTests {
  private static let root = TestProgram.sources.removingLastComponent().removingLastComponent()
    .removingLastComponent()
  private let folder: ScratchDirectory
  private let program: String

  init() throws {
    folder = try ScratchDirectory()
    program = try TestProgram("gate.c").path.string
  }

  private func run(_ arguments: [String], variables: [String] = []) throws -> ProcessRun {
    try ProcessRun.run(
      ["/bin/bash", Self.root.appending("scripts/run-action").string] + arguments,
      environment: TracedRun.minimalEnvironment + variables, directory: folder.path)
  }

  private func github(_ inputs: [String]) throws -> ProcessRun {
    try run(
      ["github", "memtrace=\(BuiltProducts.memtrace)"] + inputs,
      variables: ["GITHUB_STEP_SUMMARY=\(folder.path)/summary.md"])
  }

  private func file(_ name: String) throws -> String {
    try String(contentsOfFile: folder.path.appending(name).string, encoding: .utf8)
  }

  @Test func theActionFailsWithAnnotationsSummaryAndReports() throws {
    let run = try github(["run=echo first\n'\(program)' lc", "options=--bytes\n--process=gate-*"])
    let text = run.outputText
    #expect(run.status == 86, "\(text)\(run.errorText)")
    #expect(text.hasPrefix("##[group]Check\nfirst\n"))
    let lines = text.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("::error ") } == 2)
    #expect(lines.contains("output verdict=fail"))
    #expect(lines.contains("output exit-status=86"))
    #expect(lines.contains("output findings=2"))
    #expect(text.contains("output sarif=\(folder.path)/memtrace-reports/memtrace.sarif\n"))
    #expect(text.contains("bash (pid"))
    #expect(text.contains(": not chosen"))
    #expect(try file("summary.md").hasPrefix("## memtrace: failed, 2 findings\n"))
    for name in ["memtrace.sarif", "memtrace-junit.xml", "memtrace.json", "memtrace.txt"] {
      #expect(try file("memtrace-reports/\(name)").contains("leak_nodes"))
    }
  }

  @Test func theActionPassesOnWhatItFinds() throws {
    let clean = try github(["run='\(program)'", "reports=out/of it"])
    #expect(clean.status == 0, "\(clean.outputText)\(clean.errorText)")
    #expect(clean.outputText.contains("output verdict=pass\noutput exit-status=0\n"))
    #expect(try file("out/of it/memtrace-junit.xml").contains("failures=\"0\""))
    // The command's own failure; the second line must not run.
    let failed = try github(["run='\(program)' f\necho not reached"])
    #expect(failed.status == 3)
    #expect(!failed.outputText.contains("not reached"))
    #expect(failed.outputText.contains("output exit-status=3\n"))
    let wrong = try github(["run=true", "options=--rule=nothing<=1"])
    #expect(wrong.status == 64)
    #expect(wrong.outputText.contains("output verdict=\noutput exit-status=64\n"))
    // Inputs are text, not scripts.
    let text = try github(["run=true", "options=--process=$(touch broken)`touch broken`"])
    #expect(text.status == 87)
    #expect(!FileManager.default.fileExists(atPath: folder.path.appending("broken").string))
  }

  @Test(arguments: [("''", Int32(86)), ("--rule leaks<=3 --rule cycles<=1", 0)])
  func theTemplateFailsWithItsReports(_ options: String, _ status: Int32) throws {
    let pipeline = """
      include:
        - local: /ci/gitlab/memtrace.yml
      leaks:
        extends: .memtrace-check
        variables:
          MEMTRACE_RUN: \(program) lc
          MEMTRACE_OPTIONS: \(options)
      """
    try pipeline.write(
      toFile: folder.path.appending("pipeline.yml").string, atomically: true, encoding: .utf8)
    let run = try run(
      ["gitlab", "pipeline.yml", "leaks"], variables: ["MEMTRACE=\(BuiltProducts.memtrace)"])
    #expect(run.status == status, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("report junit=memtrace-reports/junit.xml\n"))
    #expect(run.outputText.contains("report codequality=memtrace-reports/code-quality.json\n"))
    #expect(try file("memtrace-reports/code-quality.json").contains("\"check_name\" : \"MT001\""))
  }

  @Test func whatTheRunnerDoesNotKnowFails() throws {
    try "leaks:\n  script: ['true']\n  retry: 2\n".write(
      toFile: folder.path.appending("pipeline.yml").string, atomically: true, encoding: .utf8)
    let run = try run(["gitlab", "pipeline.yml", "leaks"])
    #expect(run.status == 125)
    #expect(run.errorText == "run-action: leaks: retry is not known here\n")
  }
}

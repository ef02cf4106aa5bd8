import Reports

/// The findings as Valgrind's memcheck would print them, for programs that read its logs: CTest
/// counts defects by these lines.
/// https://valgrind.org/docs/manual/mc-manual.html
struct ValgrindLog {
  let result: GateResult

  var text: String {
    let counted = result.counted
    let records = counted.count { !$0.kind.isMemoryError }
    var lines: [String] = []
    var record = 0
    for finding in counted {
      if !finding.kind.isMemoryError { record += 1 }
      lines += paragraph(finding, "in loss record \(record) of \(records)")
    }
    // A rule without findings, and what could not be measured, have no form of their own.
    lines += result.brokenFigures.map {
      Self.line($0.pid, "\($0.process): \($0.measured), \($0.rule)")
    }
    lines += result.problems.map { Self.line(firstProcess, "not measured: \($0.printable)") }
    let errors = counted.count
    let hidden = result.count(.suppressed) + result.count(.baselined)
    lines.append(
      Self.line(
        firstProcess,
        "ERROR SUMMARY: \(errors) errors from \(errors) contexts (suppressed: \(hidden) from \(hidden))"
      ))
    return lines.map { $0 + "\n" }.joined()
  }

  private var firstProcess: UInt32 { result.processes.first { $0.isChosen }?.pid ?? 0 }

  private func paragraph(_ finding: Finding, _ record: String) -> [String] {
    var lines = [title(finding, record)]
    if let tests = finding.tests { lines.append(" \(tests.text)") }
    lines += frames(finding.frames)
    for related in finding.related { lines += [" \(related.title)"] + frames(related.frames) }
    return (lines + [""]).map { Self.line(finding.pid, $0) }
  }

  private func title(_ finding: Finding, _ record: String) -> String {
    switch finding.kind {
    case .leak, .cycle:
      "\(finding.bytes) bytes in \(finding.count) blocks are definitely lost \(record)"
    case .unfreed:
      "\(finding.bytes) bytes in \(finding.count) blocks are still reachable \(record)"
    case .doubleFree, .invalidFree, .reallocOfFreed, .overRelease:
      "Invalid free() / delete / delete[] / realloc()"
    case .writeAfterFree: "Invalid write: to a block that was free'd"
    case .useAfterFree: "Invalid read: from a block that was free'd"
    case .heapOverflow: "Invalid write: after a block"
    case .heapUnderflow: "Invalid write: before a block"
    case .outOfBounds: "Invalid read or write: beside a block"
    case .mismatchedFree, .wrongSize, .wrongAlignment:
      "Mismatched free() / delete / delete []"
    }
  }

  private func frames(_ frames: [ReportFrame]) -> [String] {
    StackText.telling(frames).enumerated().map { index, frame in
      let address = String(frame.imageOffset ?? 0, radix: 16, uppercase: true)
      let place = frame.place ?? "in \(frame.image ?? "?")"
      return
        "   \(index == 0 ? "at" : "by") 0x\(address): \(frame.name.printable) (\(place.printable))"
    }
  }

  private static func line(_ pid: UInt32, _ text: String) -> String {
    "==\(pid)== \(text)"
  }
}

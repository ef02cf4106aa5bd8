import Reports
import TraceReader

@testable import LeakGate

/// A frame of the program.
func frame(
  _ name: String, _ file: String? = nil, _ line: Int? = nil, image: String = "/opt/app/bin/app",
  role: ReportFrame.Role = .user, symbol: String? = nil
) -> ReportFrame {
  ReportFrame(name: name, symbol: symbol, file: file, line: line, image: image, role: role)
}

/// A leak of `Node`s in `makeList`, with its real fingerprint.
func leak(
  what: String = "Node", count: UInt64 = 3, bytes: UInt64 = 48, in function: String = "makeList",
  line: Int = 12, kind: FindingKind = .leak, process: String = "app", pid: UInt32 = 7
) -> Finding {
  let frames = [
    frame(function, "/src/app/list.c", line), frame("main", "/src/app/main.c", 5),
    frame("__libc_start_main", image: "/lib/libc.so.6", role: .system),
  ]
  return Finding(
    kind: kind, what: what, count: count, bytes: bytes, instances: 1,
    fingerprint: Fingerprint.of(kind, what: what, frames: frames), process: process, pid: pid,
    frames: frames, responsible: frames[0])
}

/// A process that was measured.
func checked(
  _ name: String = "app", pid: UInt32 = 7, leaked: Amount = Amount(), cycles: UInt64 = 0,
  peak: UInt64 = 1000, allocations: UInt64 = 10, problems: [String] = []
) -> CheckedProcess {
  var measures = CheckedProcess.Measures()
  var sum = BlockSum()
  (sum.count, sum.bytes) = (leaked.count, leaked.bytes)
  (measures.leaked, measures.cycles) = (sum, cycles)
  (measures.peakBytes, measures.allocations) = (peak, allocations)
  return CheckedProcess(
    name: name, executable: "/opt/app/bin/\(name)", command: "./\(name)", pid: pid, trace: nil,
    ending: EndingSummary(.exit(0)), isChosen: true, measures: measures, problems: problems)
}

/// An input with one process and these findings.
func input(_ findings: [Finding] = [], processes: [CheckedProcess] = [checked()]) -> GateInput {
  var input = GateInput(today: day("2026-06-15"))
  input.processes = processes
  input.findings = findings
  input.toolVersion = "1.2.3"
  return input
}

func day(_ text: String) -> CalendarDay { CalendarDay(text) ?? .first }

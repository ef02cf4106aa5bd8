import Reports
import Symbolication
import SystemPackage
import TraceReader

/// Packs traces.
struct PackSession {
  var level = PackingOptions.defaultLevel
  var hasSymbols = true
  var debugFiles = DebugFileSearch()

  /// Packs one trace into a new file.
  ///
  /// - Parameters:
  ///   - path: The trace.
  ///   - name: The trace as the user knows it.
  ///   - target: The file to create.
  /// - Returns: What it came to.
  /// - Throws: ``CommandFailure`` when it cannot be read, is packed already, or cannot be written.
  func pack(
    _ path: FilePath, shownAs name: String, to target: TraceTarget
  ) throws(CommandFailure) -> PackSummary {
    let trace = try Self.open(path)
    guard !trace.isPacked else {
      throw CommandFailure("\(name) is packed already", exitStatus: ExitStatus.usage)
    }
    let symbols = hasSymbols ? try symbols(of: trace, shownAs: name) : []
    let progress = ReportProgress("Packing \(name)")
    defer { progress.finish() }
    let packer = TracePacker(trace, level: level, symbols: symbols)
    return try TraceWriting.create(target, from: path) { file throws(TraceError) in
      try packer.write(to: file) { progress.update($0, of: $1) }
    }
  }

  private func symbols(
    of trace: Trace, shownAs name: String
  ) throws(CommandFailure) -> [[UInt8]] {
    let progress = ReportProgress("Looking up the names of \(name)")
    defer { progress.finish() }
    let symbolicator = try debugFiles.symbolicator(for: trace)
    return SymbolEmbedder(trace, symbolicator: symbolicator).chunks {
      progress.update($0, of: $1)
    }
  }

  /// Opens a trace.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be read.
  static func open(_ path: FilePath) throws(CommandFailure) -> Trace {
    do throws(TraceError) {
      return try Trace(path: path)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// What the trace lacked before it was packed, and the packed one lacks as well; nil for a whole one.
  static func lack(_ summary: PackSummary, name: String) -> String? {
    if summary.missingBytes > 0 {
      return
        "\(name) was cut: \(summary.missingBytes) bytes are missing at its end, also once packed"
    }
    return summary.isDamaged ? "\(name) is damaged; its packed form lacks the same" : nil
  }

  /// One line on what packing came to.
  static func text(_ summary: PackSummary, name: String, target: String) -> String {
    let sizes = [summary.recordedBytes, summary.packedBytes].map { ByteStyle.human.format($0) }
    return "packed \(name) (\(sizes[0])) into \(target) (\(sizes[1]), "
      + "\(PackingText.perEvent(summary.packedBytes, summary.events)))"
  }
}

/// Unpacks traces.
enum UnpackSession {
  /// Unpacks one trace into a new file.
  ///
  /// - Parameters:
  ///   - path: The packed trace.
  ///   - name: The trace as the user knows it.
  ///   - target: The file to create.
  /// - Returns: How many bytes of the plain trace are lost to damage.
  /// - Throws: ``CommandFailure`` when it cannot be read, is not packed, or cannot be written.
  static func unpack(
    _ path: FilePath, shownAs name: String, to target: TraceTarget
  ) throws(CommandFailure) -> UInt64 {
    let trace = try PackSession.open(path)
    guard trace.isPacked else {
      throw CommandFailure("\(name) is not packed", exitStatus: ExitStatus.usage)
    }
    let progress = ReportProgress("Unpacking \(name)")
    defer { progress.finish() }
    return try TraceWriting.create(target, from: path) { file throws(TraceError) in
      try TraceUnpacker(trace).write(to: file) { progress.update($0, of: $1) }
    }
  }
}

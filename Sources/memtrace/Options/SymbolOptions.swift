import ArgumentParser
import Symbolication
import SystemPackage
import TraceReader

/// How addresses become names, for every report with stacks.
struct SymbolOptions: ParsableArguments {
  @Flag(name: .customLong("full-names"), help: "Print names with all their template arguments.")
  var fullNames = false

  @OptionGroup var debugFiles: DebugFileOptions

  /// A symbolicator for a trace: its own names if it is packed, and files.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - folders: Where debug files are looked for besides the system's folder.
  /// - Returns: A symbolicator that has opened no file yet.
  static func symbolicator(for trace: Trace, debugDirectories folders: [String]) -> any Symbolicator
  {
    let files = ELFSymbolicator(
      debugDirectories: folders + ["/usr/lib/debug"],
      recordedAt: trace.process.startWallNanoseconds)
    let embedded = trace.symbolContents
    if embedded.isEmpty { return files }
    return EmbeddedSymbolicator(
      embedded, files: files, prefersFiles: !folders.isEmpty,
      isWhole: !trace.lacksSymbols)
  }
}

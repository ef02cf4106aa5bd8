import Symbolication
import SystemPackage
import TraceReader

/// Where names are looked up besides the program and its libraries.
struct DebugFileSearch {
  /// Folders beside the system's.
  var folders: [String] = []
  /// Where the recorded programs' own file system is; nil where it is this one.
  var root: FilePath?
  /// Whether debuginfod servers are asked for what is not on this machine.
  var asksServers = false

  /// A symbolicator for a trace: its own names if it is packed, and files.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - shared: Files that traces before this one needed; nil for a single trace.
  /// - Returns: A symbolicator that has opened no file yet.
  /// - Throws: ``CommandFailure`` where servers are to be asked and nothing is installed that can.
  func symbolicator(
    for trace: Trace, sharing shared: SymbolFiles? = nil
  ) throws(CommandFailure) -> any Symbolicator {
    let environment = EnvironmentVariables.current
    let systemRoot = root.map { SystemRoot(folder: $0.string) }
    let files = ELFSymbolicator(
      debugDirectories: folders + (root.map { [$0.appending("usr/lib/debug").string] } ?? [])
        + ["/usr/lib/debug"],
      cache: DebuginfodCache(
        environment: { environment[$0] }, exists: { FilePath($0).exists }),
      servers: asksServers ? try Self.servers() : nil,
      root: systemRoot, recordedAt: trace.process.startWallNanoseconds,
      generatedCode: GeneratedCode(
        of: trace.process, root: systemRoot, oldestAt: Self.start(ofProcessIn: trace)),
      sharing: shared)
    let embedded = trace.symbolContents
    if embedded.isEmpty { return files }
    return EmbeddedSymbolicator(
      embedded, files: files, prefersFiles: !folders.isEmpty || root != nil || asksServers,
      isWhole: !trace.lacksSymbols)
  }

  /// When the process began, in nanoseconds since 1970: before the recording where that was attached.
  private static func start(ofProcessIn trace: Trace) -> UInt64 {
    let recordedAt = trace.process.startWallNanoseconds
    let age = trace.notes.first { $0.kind == .attached }?.value ?? 0
    return recordedAt - min(age, recordedAt)
  }

  private static func servers() throws(CommandFailure) -> DebuginfodClient {
    let observer = DebuginfodClient.Observer(
      progress: DownloadProgress().update,
      failure: { reason in
        Diagnostics.write(
          "no debug files from the servers in DEBUGINFOD_URLS (\(reason)): names are missing")
      })
    guard let client = DebuginfodClient(observer: observer) else {
      throw CommandFailure(
        "--debuginfod needs libdebuginfod: install libdebuginfod1 (Debian, Ubuntu) or elfutils-debuginfod-client",
        exitStatus: ExitStatus.usage)
    }
    return client
  }
}

/// A progress line for each file that is fetched.
private final class DownloadProgress {
  private var line: (image: String, line: ProgressLine)?

  /// Notes how much of the debug file of an image is here; nothing in all ends its line.
  func update(_ image: String, _ done: UInt64, of total: UInt64) {
    if total == 0 || image != line?.image {
      line?.line.finish()
      line = nil
    }
    guard total > 0 else { return }
    if line == nil {
      let name = FilePath(image).lastComponent?.string ?? image
      line = (image, ProgressLine("Fetching the debug file of \(name.printable)"))
    }
    line?.line.update(done, of: total)
  }
}

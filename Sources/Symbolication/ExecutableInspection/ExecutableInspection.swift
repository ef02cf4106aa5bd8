/// What a command would run, and what would keep the recorder from seeing its allocations.
public struct ExecutableInspection: Sendable, Hashable {
  /// The file that the command names, found on `PATH` if need be; `nil` when there is none.
  public let path: String?

  /// The ELF file that runs in the end: the last interpreter of a script, else the file itself.
  ///
  /// `nil` when nothing can run.
  public let executablePath: String?

  /// The files from the command to the executable, scripts first; links are not followed.
  public let chain: [String]

  /// What was found, the worst first; empty when all can be recorded.
  public let findings: [ExecutableFinding]

  /// Whether anything can be recorded at all.
  public var isRecordable: Bool {
    !findings.contains { $0.severity == .blocking }
  }

  /// Inspects what `command` would run.
  ///
  /// - Parameters:
  ///   - command: As `argv[0]`: a path if it has a slash, else looked up in `searchPath`.
  ///   - searchPath: The value of `PATH`; `nil` where it is not set.
  ///   - recorder: The file of the recorder, whose C library the program's must not be older than;
  ///     `nil` where that does not matter.
  public init(command: String, searchPath: String?, recorder: String? = nil) {
    self.init(command: command, searchPath: searchPath, recorder: recorder, identity: .current)
  }

  /// The sanitizer whose runtime is preloaded into a program.
  ///
  /// - Parameter preload: The value of `LD_PRELOAD`.
  /// - Returns: Its name, and the library as it is named there; nil where there is none.
  public static func sanitizer(inPreload preload: String) -> (name: String, library: String)? {
    preload.split(whereSeparator: { $0 == ":" || $0 == " " }).lazy.compactMap { library in
      AllocatorSigns.sanitizer(library: String(library)).map { ($0, String(library)) }
    }.first
  }

  init(
    command: String, searchPath: String?, recorder: String? = nil, identity: ProcessIdentity
  ) {
    let lookup = ExecutableLookup(searchPath: searchPath)
    let found = lookup.resolve(command)
    path = found.chain.first
    chain = found.chain
    guard found.problem == nil, let executable = found.chain.last else {
      executablePath = nil
      findings = found.problem.map { [$0] } ?? []
      return
    }
    let results = ExecutableInspector(
      path: executable, identity: identity, recorder: recorder
    ).findings()
    executablePath = results.contains { $0.kind == .notELF } ? nil : executable
    findings = results.sorted { $0.severity > $1.severity }
  }
}

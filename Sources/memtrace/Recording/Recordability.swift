import Symbolication
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// Says at once, and why, when a command cannot be recorded, or not wholly.
struct Recordability {
  /// What is known of the files that will be executed, and is no reason to refuse.
  private var findings: [ExecutableFinding]

  /// Inspects the file that a command stands for.
  ///
  /// - Parameters:
  ///   - executable: The file that will be executed.
  ///   - arguments: Its arguments, the name of the command first.
  ///   - environment: Its environment: `PATH` for the interpreters of scripts, and what else is preloaded.
  ///   - recorder: What is to be preloaded into it.
  /// - Throws: ``CommandFailure`` with 125 and the reason when nothing could be recorded.
  init(
    of executable: FilePath, arguments: [String], environment: EnvironmentVariables,
    recorder: FilePath
  ) throws(CommandFailure) {
    try Self.refuseSanitizer(before: executable, in: environment)
    // The recorder would be in the list.
    if let option = LoaderCommand.listingOption(of: executable, arguments) {
      throw CommandFailure(
        "cannot record \(executable): with \(option) it runs no program",
        exitStatus: ExitStatus.cannotRecord)
    }
    let path = executable.string.contains("/") ? executable.string : "./\(executable)"
    let inspection = ExecutableInspection(
      command: path, searchPath: environment["PATH"], recorder: recorder.string)
    let keepsObjectsInMalloc = PythonAllocator.isMalloc(
      setting: environment[PythonAllocator.variable],
      // Those of a script are not its interpreter's.
      arguments: inspection.chain.count > 1 ? [] : arguments)
    findings = inspection.findings.filter {
      !Self.isHarmless($0) && !(keepsObjectsInMalloc && $0.isAllocatorOfPython)
    }
    for finding in findings {
      guard let reason = Self.refusal(finding.kind) else { continue }
      throw CommandFailure(
        "cannot record \(finding.path): \(reason)", exitStatus: ExitStatus.cannotRecord)
    }
  }

  /// What the trace will not hold.
  ///
  /// - Parameter bundled: Whether an allocator that is part of the executable is to be recorded.
  /// - Returns: A line for each gap.
  func warnings(recordingBundledAllocator bundled: Bool) -> [String] {
    findings.compactMap { finding in
      guard case .bundledAllocator(let allocator) = finding.kind, allocator.canBeRecorded else {
        return Self.warning(finding)
      }
      return bundled
        ? nil : Self.warning(finding).map { "\($0) without --bundled-allocator" }
    }
  }

  /// Refuses a sanitizer that is to be preloaded: it would end a program in which it is not the first library.
  private static func refuseSanitizer(
    before executable: FilePath, in environment: EnvironmentVariables
  ) throws(CommandFailure) {
    let preload = environment["LD_PRELOAD"] ?? ""
    guard let other = ExecutableInspection.sanitizer(inPreload: preload) else { return }
    throw CommandFailure(
      "cannot record \(executable): \(other.library), which LD_PRELOAD names, is "
        + "\(other.name), which replaces the allocator itself",
      exitStatus: ExitStatus.cannotRecord)
  }

  /// Why nothing could be recorded; `nil` for what the kernel or the shell says when it is run.
  private static func refusal(_ kind: ExecutableFinding.Kind) -> String? {
    switch kind {
    case .staticallyLinked:
      "it is statically linked, so that no library can be preloaded into it; what it runs can be "
        + "recorded where a shell runs it: sh -c '...'"
    case .foreignArchitecture(let machine):
      "it is built for \(machine)"
    case .setUserID:
      "it changes the user when it starts (setuid), and then preloaded libraries are ignored"
    case .setGroupID:
      "it changes the group when it starts (setgid), and then preloaded libraries are ignored"
    case .fileCapabilities:
      "it gains capabilities when it starts, and then preloaded libraries are ignored"
    case .foreignLibc(let interpreter):
      "it uses another C library (\(interpreter)), and the recorder needs glibc"
    case .olderLibc(let interpreter):
      "its C library (that of \(interpreter)) is older than this recorder needs; build memtrace "
        + "where that C library is"
    case .sanitizer(let name):
      "it is built with \(name), which replaces the allocator itself; record a build without it"
    case .notFound, .notExecutable, .unreadable, .notELF, .missingInterpreter, .damaged,
      .bundledAllocator, .bundledOperators:
      nil
    }
  }

  /// Why nothing could be recorded of a program that is running.
  ///
  /// - Parameter executable: Its file. What matters to the loader at the start only, as setuid, does
  ///   not any more.
  /// - Returns: The reason; nil when it can be recorded.
  static func refusal(ofRunning executable: FilePath) -> String? {
    ExecutableInspection(command: executable.string, searchPath: nil).findings.lazy
      .compactMap { finding in
        switch finding.kind {
        case .staticallyLinked: "it is statically linked, so that no library can be loaded into it"
        case .setUserID, .setGroupID, .fileCapabilities: nil
        default: refusal(finding.kind)
        }
      }.first
  }

  /// What a trace does not hold because of what its executable brings along, one line each; nothing where the file
  /// is not at hand any more.
  static func gaps(of trace: Trace) -> [String] {
    RecordedExecutable.findings(of: trace).compactMap(warning)
  }

  private static func warning(_ finding: ExecutableFinding) -> String? {
    if finding.kind == .bundledOperators { return "\(finding.path) \(finding.reason)" }
    guard case .bundledAllocator(let allocator) = finding.kind else { return nil }
    let what =
      allocator.replacesMalloc
      ? "what goes through it is not recorded"
      : "what it allocates by its own functions is not recorded"
    let symbol = Demangler.name(of: allocator.symbol).base
    // Of an own `malloc` the name says it all.
    let sign = symbol.isEmpty || allocator.name.hasSuffix(symbol) ? "" : ", \(symbol)"
    let remedy = allocator.isPython ? " without \(PythonAllocator.variable)=malloc" : ""
    return "\(finding.path) brings its own allocator along (\(allocator.name)\(sign)); \(what)"
      + remedy
  }

  /// Whether a finding means nothing to the user who runs memtrace.
  ///
  /// The dynamic linker is strict when the program gains privileges; root has them already
  /// (`AT_SECURE` in getauxval(3), `cap_bprm_creds_from_file` in the kernel).
  private static func isHarmless(_ finding: ExecutableFinding) -> Bool {
    guard geteuid() == 0 else { return false }
    switch finding.kind {
    case .fileCapabilities: return true
    case .setUserID:
      return (try? FileStatus(of: FilePath(finding.path)))?.owner == geteuid()
    case .setGroupID:
      return (try? FileStatus(of: FilePath(finding.path)))?.group == getegid()
    default: return false
    }
  }
}

import Synchronization
import TraceReader

/// Inspects an executable and its libraries after it was recorded: what they keep from its trace.
public enum RecordedExecutable {
  /// What the executable of a trace and its libraries bring along that is not in the trace.
  ///
  /// - Parameter trace: The opened trace.
  /// - Returns: Allocators and operators that are linked in; empty where the files are gone or other ones now.
  public static func findings(of trace: Trace) -> [ExecutableFinding] {
    executableFindings(of: trace) + libraryFindings(of: trace)
  }

  /// What the libraries of a trace have for themselves.
  ///
  /// - Parameter trace: The opened trace.
  /// - Returns: Allocators, with the paths of the libraries.
  public static func libraryFindings(of trace: Trace) -> [ExecutableFinding] {
    trace.images.images
      .filter { $0.path != trace.process.executablePath && !isRecorded($0, in: trace) }
      .flatMap { remembering($0, isLibrary: true) }
      .filter { !$0.isAllocatorOfPython || !keepsObjectsInMalloc(trace, isEmbedded: true) }
  }

  private static func executableFindings(of trace: Trace) -> [ExecutableFinding] {
    guard let image = trace.images.images.first(where: { $0.path == trace.process.executablePath })
    else { return [] }
    return remembering(image, isLibrary: false).filter { finding in
      if finding.isAllocatorOfPython { return !keepsObjectsInMalloc(trace) }
      guard case .bundledAllocator(let allocator) = finding.kind else { return true }
      return !isRecorded(image, in: trace) || !allocator.canBeRecorded
    }
  }

  /// Whether a Python that was recorded had the C library's allocator for its objects.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - isEmbedded: Whether Python is a library, so that the arguments may be those of another program.
  /// - Returns: Whether it had.
  private static func keepsObjectsInMalloc(_ trace: Trace, isEmbedded: Bool = false) -> Bool {
    let setting = trace.notes.last { $0.kind == .pythonMalloc }?.text
    let isInterpreter =
      !isEmbedded || PythonAllocator.isInterpreter(trace.process.executablePath)
    return PythonAllocator.isMalloc(
      setting: setting, arguments: isInterpreter ? trace.process.arguments : [])
  }

  /// The allocators of the executable that hand out blocks to the program, and not objects of a language.
  ///
  /// - Parameter trace: The opened trace.
  /// - Returns: Those that are called by names of their own: the recorder notes calls of a `malloc` that
  ///   it does not see.
  public static func unseenAllocators(of trace: Trace) -> [BundledAllocator] {
    executableFindings(of: trace).compactMap { finding in
      guard case .bundledAllocator(let allocator) = finding.kind else { return nil }
      return allocator.replacesMalloc || allocator.keepsObjects ? nil : allocator
    }
  }

  /// Whether calls of the allocator of an image were led to the recorder.
  private static func isRecorded(_ image: Image, in trace: Trace) -> Bool {
    trace.coverage.bundled.contains { $0.hasSuffix(": \(image.path)") }
  }

  private static func findings(of image: Image) -> [ExecutableFinding] {
    guard open(image) != nil else { return [] }
    return ExecutableInspector(path: image.path, identity: .current).findings().filter {
      switch $0.kind {
      case .bundledAllocator, .bundledOperators: true
      default: false
      }
    }
  }

  /// What a library has for itself: those of the system have none, but for Python's.
  private static func findings(ofLibrary image: Image) -> [ExecutableFinding] {
    let isPython = PythonAllocator.isLibrary(image.path)
    guard isPython || !FrameClassifier.isSystemImage(at: image.path), let file = open(image)
    else { return [] }
    let allocators =
      isPython
      ? PythonAllocator.allocators(inLibrary: file) : AllocatorTexts.allocators(inLibrary: file)
    return allocators.map { ExecutableFinding(kind: .bundledAllocator($0), path: image.path) }
  }

  /// A file, as images name it, and what it was to its process.
  private struct File: Hashable {
    var path: String
    var buildID: [UInt8]
    var isLibrary: Bool
  }

  /// What was found in files: the processes of a recording have most of them in common.
  private static let known = Mutex<[File: [ExecutableFinding]]>([:])

  /// What the file of an image brings along, which is looked for once.
  private static func remembering(_ image: Image, isLibrary: Bool) -> [ExecutableFinding] {
    let file = File(path: image.path, buildID: image.buildID, isLibrary: isLibrary)
    if let found = known.withLock({ $0[file] }) { return found }
    let found = isLibrary ? findings(ofLibrary: image) : findings(of: image)
    // Without an ID it might be another file the next time.
    if !file.buildID.isEmpty { known.withLock { $0[file] = found } }
    return found
  }

  /// The file of an image, if it still is the same one.
  private static func open(_ image: Image) -> ELFFile? {
    guard image.path.hasPrefix("/"), let file = try? ELFFile(path: image.path),
      file.buildID == image.buildID
    else { return nil }
    return file
  }
}

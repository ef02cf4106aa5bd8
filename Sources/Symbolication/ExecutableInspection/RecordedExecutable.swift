import TraceReader

/// Inspects an executable after it was recorded: what it keeps from its trace.
public enum RecordedExecutable {
  /// What the executable brings along that the recorder does not see.
  ///
  /// - Parameter image: The executable, as the trace has it.
  /// - Returns: Allocators and operators that are linked in; empty where the file is gone or another one now.
  public static func findings(of image: Image) -> [ExecutableFinding] {
    guard image.path.hasPrefix("/"), !image.buildID.isEmpty,
      let file = try? ELFFile(path: image.path), file.buildID == image.buildID
    else { return [] }
    return ExecutableInspector(path: image.path, identity: .current).findings().filter {
      switch $0.kind {
      case .bundledAllocator, .bundledOperators: true
      default: false
      }
    }
  }
}

import TraceReader

/// Inspects an executable after it was recorded: what it keeps from its trace.
public enum RecordedExecutable {
  /// What the executable of a trace brings along that is not in the trace.
  ///
  /// - Parameter trace: The opened trace.
  /// - Returns: Allocators and operators that are linked in; empty where the file is gone or another one now.
  public static func findings(of trace: Trace) -> [ExecutableFinding] {
    guard let image = trace.images.images.first(where: { $0.path == trace.process.executablePath })
    else { return [] }
    return findings(of: image).filter { finding in
      guard case .bundledAllocator(let allocator) = finding.kind else { return true }
      return trace.coverage.bundled.isEmpty || !allocator.canBeRecorded
    }
  }

  /// The allocators among them that hand out blocks to the program, and not objects of a language.
  ///
  /// - Parameter trace: The opened trace.
  /// - Returns: Those that are called by names of their own: the recorder notes calls of a `malloc` that
  ///   it does not see.
  public static func unseenAllocators(of trace: Trace) -> [BundledAllocator] {
    findings(of: trace).compactMap { finding in
      guard case .bundledAllocator(let allocator) = finding.kind else { return nil }
      return allocator.replacesMalloc || allocator.keepsObjects ? nil : allocator
    }
  }

  private static func findings(of image: Image) -> [ExecutableFinding] {
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

/// Finds the frame that a report blames for an allocation.
public enum ResponsibleFrame {
  /// The first frame of the user; else the first that is neither allocator nor runtime, of the C library or
  /// named like an allocator (`g_malloc`) only where there is no other; else the outermost.
  ///
  /// What a macro was expanded to has no line in a file that anybody could open, and what makes room in a container
  /// is the same for all who use such, as is a function of the program that allocates for others: whoever calls it is
  /// meant, where there is one. So is who makes an object of Swift, see ``SwiftObjectCreation``.
  ///
  /// Where a library starts up (`call_init`) or a thread begins (`start_thread`), the runtime's
  /// function that was called from there says more than that it was called. Without debug information of
  /// the C library these have no names.
  ///
  /// Where nothing of the program is on the stack but its `main`, stripped of its name, or exported by a program
  /// of the system, the library that it hands over to is meant; not the C library.
  ///
  /// Of a part of an async function of Swift what runs it is not meant, see ``SwiftJob``.
  ///
  /// - Parameter frames: Leaf first; inlined frames count as frames, markers do not.
  /// - Returns: `nil` when there is no frame but markers.
  public static func find(in frames: some Sequence<SymbolicatedFrame>) -> SymbolicatedFrame? {
    var firstSystem: SymbolicatedFrame?
    var runtimeBefore: SymbolicatedFrame?
    var outermost: SymbolicatedFrame?
    var stepped: SymbolicatedFrame?
    var stripped = StrippedMain()
    var job = SwiftJob()
    var creation = SwiftObjectCreation()
    for frame in frames {
      if stripped.isPending {
        if let decided = stripped.decided(by: frame) { return decided }
        continue
      }
      let makesObject = creation.isPart(frame)
      switch frame.role {
      case .user:
        guard makesObject || frame.allocatesForOthers else {
          guard stripped.begin(at: frame) else { return stripped.behindFront(frame) ?? frame }
          continue
        }
        if stepped == nil { stepped = frame }
      case .system:
        stripped.add(library: frame)
        if firstSystem == nil { firstSystem = isLaunch(frame) ? runtimeBefore ?? frame : frame }
      case .runtime:
        if job.isRun(by: frame) {
          return stepped ?? job.answering(firstSystem) ?? runtimeBefore ?? frame
        }
        if firstSystem == nil, !frame.isLibraryAllocator,
          !RuntimeNames.isAllocator(frame.function)
        {
          runtimeBefore = frame
        }
      case .marker: continue
      }
      outermost = frame
    }
    return stripped.undecided ?? stepped ?? firstSystem.map(stripped.instead(of:)) ?? outermost
  }

  /// Whether the frame does nothing but call another library or a thread's function.
  private static func isLaunch(_ frame: SymbolicatedFrame) -> Bool {
    guard let function = frame.function else {
      return frame.imagePath.map(FrameClassifier.isCLibrary) ?? false
    }
    return launchFunctions.contains(function.raw)
  }

  private static let launchFunctions: Set<String> = [
    "call_init", "_dl_init", "_dl_start_user", "start_thread", "clone", "clone3",
    "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "_start",
  ]

  /// A description such as `malloc in parse_header`.
  ///
  /// - Parameters:
  ///   - function: The allocator function that was called, for example `malloc` or `new`.
  ///   - frame: The responsible frame; `nil` gives the function alone.
  /// - Returns: The function and the frame's name without parameters.
  public static func describe(_ function: String, in frame: SymbolicatedFrame?) -> String {
    guard let frame, frame.role != .marker else { return function }
    return "\(function) in \(frame.baseName)"
  }
}

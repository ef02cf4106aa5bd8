/// Recognises `main` of a stripped program, and what it hands over to.
///
/// Many programs are nothing but `main` in front of a library (`ruby`, `octave`, `dot`): blaming that, and
/// without a name, would be the same for all their blocks.
struct StrippedMain {
  private var namedLibraryFrame: SymbolicatedFrame?
  /// Allocators count only where there is nothing else.
  private var libraryFrame: SymbolicatedFrame?
  private var isLibraryFrameAllocator = false
  private var main: SymbolicatedFrame?

  /// Whether a frame may be `main`: who called it tells.
  var isPending: Bool { main != nil }

  /// The innermost frame of a library, one with a name if there is any; else the one that may be `main`.
  var handedOver: SymbolicatedFrame? { namedLibraryFrame ?? libraryFrame ?? main }

  /// Takes notice of a frame of the system in front of the program's first.
  mutating func add(library frame: SymbolicatedFrame) {
    guard frame.isOfSystemImage, !frame.isOfCLibrary else { return }
    let isAllocator = frame.isLibraryAllocator
    if libraryFrame == nil || isLibraryFrameAllocator && !isAllocator {
      libraryFrame = frame
      isLibraryFrameAllocator = isAllocator
    }
    guard namedLibraryFrame == nil, frame.function != nil, !isAllocator else { return }
    namedLibraryFrame = frame
  }

  /// What to blame instead of a frame of the system, where nothing of the program is on the stack: who
  /// called the C library or a function that allocates for others.
  func instead(of frame: SymbolicatedFrame) -> SymbolicatedFrame {
    guard frame.isOfCLibrary || frame.isLibraryAllocator else { return frame }
    return namedLibraryFrame ?? libraryFrame ?? frame
  }

  /// Begins to ask who called the program's first frame.
  ///
  /// - Returns: Whether that matters: not where the frame has a name of its own, or nothing else could be blamed.
  mutating func begin(at frame: SymbolicatedFrame) -> Bool {
    guard let path = frame.imagePath, libraryFrame != nil,
      frame.function == nil || Self.isMainOfSystem(frame, path)
    else { return false }
    main = frame
    return true
  }

  /// What the libraries of clang are called by, where a frame is that: the frame to blame instead of it.
  ///
  /// It is the `main` of what clang runs in itself, with frames of clang, which is nothing but such fronts, around it.
  func behindFront(_ frame: SymbolicatedFrame) -> SymbolicatedFrame? {
    guard let path = frame.imagePath, let function = frame.function, libraryFrame != nil,
      Self.fronts.contains(function.base), Self.isOfSystem(frame, path)
    else { return nil }
    return handedOver
  }

  private static let fronts: Set<String> = ["cc1_main", "cc1as_main", "cc1gen_reproducer_main"]

  /// Whether a frame is `main` of a program of the system without debug information: some, such as R, export it, and so
  /// keep its name.
  private static func isMainOfSystem(_ frame: SymbolicatedFrame, _ path: String) -> Bool {
    frame.function?.raw == "main" && isOfSystem(frame, path)
  }

  private static func isOfSystem(_ frame: SymbolicatedFrame, _ path: String) -> Bool {
    frame.location == nil && programFolders.contains { path.hasPrefix($0) }
  }

  private static let programFolders = ["/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/", "/sbin/"]

  /// The frame to blame, as soon as a caller of the one that may be `main` tells; nil before.
  func decided(by caller: SymbolicatedFrame) -> SymbolicatedFrame? {
    if let name = caller.function?.raw {
      return Self.callersOfMain.contains(name) ? handedOver : main
    }
    return caller.isOfCLibrary ? nil : main
  }

  /// The frame to blame where no caller has told.
  var undecided: SymbolicatedFrame? { main }

  private static let callersOfMain: Set<String> = [
    "__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl",
  ]
}

/// Decides what a frame is to a reader of a report: the program's code, a runtime, the system.
///
/// Pure functions over names and paths, so that inlined frames count like real ones.
public enum FrameClassifier {
  /// The role of a frame.
  ///
  /// - Parameters:
  ///   - function: `nil` where the name is unknown; then the image decides.
  ///   - path: `nil` for code in no image, which is the program's (JIT).
  ///   - source: The source file of the function; `nil` where it is unknown.
  /// - Returns: Never a marker.
  public static func role(
    of function: FunctionName?, inImageAt path: String?, compiledFrom source: String? = nil
  ) -> SymbolicatedFrame.Role {
    let image = path.map(fileName) ?? ""
    if isRuntimeImage(named: image) { return .runtime }
    if source.map(isRuntimeSource) == true { return .runtime }
    if let function {
      if path == nil, GeneratedNames.isRuntime(function) { return .runtime }
      let isCompiler = isSwiftCompiler(named: image)
      if RuntimeNames.isRuntime(function, inSwiftCompiler: isCompiler) { return .runtime }
      if RuntimeNames.isSystem(function) { return .system }
      if source == nil, !isCompiler {
        if LinkedSwiftLibraries.isRuntime(function) { return .runtime }
        if LinkedSwiftLibraries.isSystem(function) { return .system }
      }
    }
    if source.map(isSystemHeader) == true { return .system }
    return path.map(isSystemImage) == true ? .system : .user
  }

  /// Whether a source file is a header of the system's libraries, whose functions are compiled into the program
  /// that calls them: of Qt, Boost, the C library.
  static func isSystemHeader(_ path: String) -> Bool {
    path.hasPrefix("/usr/include/")
      || (path.hasPrefix("/usr/lib/") && TextSearch.holds(path, "/include/"))
  }

  /// Whether a source file belongs to a standard library, or is a header of the system's.
  static func isOfLibraries(_ path: String) -> Bool {
    isRuntimeSource(path) || isSystemHeader(path)
  }

  /// Whether the image belongs to the system: what "hide system libraries" hides.
  ///
  /// Only shared objects count: `cc1plus` and PostgreSQL live under `/usr/lib` as well, and are
  /// what somebody wants to look into. So is Python, wherever it is.
  public static func isSystemImage(at path: String) -> Bool {
    let name = fileName(path)
    if path.hasPrefix("linux-vdso") || path.hasPrefix("[vdso]") { return true }
    guard TextSearch.holds(name, ".so") || name.hasPrefix("ld-") else { return false }
    if name.hasPrefix("libpython") { return false }
    return systemFolders.contains { path.hasPrefix($0) }
      || TextSearch.holds(path, "/lib/swift/linux/")
  }

  /// Whether the image is the C library, one that it was divided into before glibc 2.34, or its loader.
  static func isCLibrary(at path: String) -> Bool {
    let name = fileName(path)
    return ["libc.so", "libc-", "ld-", "libpthread", "libdl"].contains { name.hasPrefix($0) }
  }

  /// Whether the image is the C library, or none that has a path: the kernel's.
  static func isCLibraryOrNone(at path: String) -> Bool {
    !path.utf8.contains(UInt8(ascii: "/")) || isCLibrary(at: path)
  }

  /// Whether all code of the image is an allocator's or a language runtime's.
  public static func isRuntimeImage(named name: String) -> Bool {
    runtimeImagePrefixes.contains { name.hasPrefix($0) }
  }

  /// Whether an image is of the programs whose own code has the namespace `swift` of the runtime.
  static func isSwiftCompiler(named name: String) -> Bool {
    swiftCompilerPrefixes.contains { name.hasPrefix($0) }
  }

  /// Whether a source file belongs to the standard library of C++, Rust, Ada or Nim.
  ///
  /// Functions that are compiled into the program often have a name without their namespace in
  /// the debug information: a template over a lambda, a specialization in Rust.
  static func isRuntimeSource(_ path: String) -> Bool {
    if TextSearch.holds(path, "/include/c++/") { return true }
    if path.hasPrefix("/rustc/"), TextSearch.holds(path, "/library/") { return true }
    // As Debian builds it.
    if path.hasPrefix("/usr/src/rustc-") { return true }
    if TextSearch.holds(path, "/adainclude/") || isNimLibrary(path) { return true }
    return TextSearch.holds(path, "/rustlib/src/rust/library/") || path.hasPrefix("/rust/deps/")
  }

  /// Whether a source file is below the `lib` of a compiler of Nim: `/usr/lib/nim/lib/system/arc.nim`,
  /// `~/.choosenim/toolchains/nim-2.0.8/lib/pure/json.nim`.
  private static func isNimLibrary(_ path: String) -> Bool {
    guard path.hasSuffix(".nim") else { return false }
    let folders = path.split(separator: "/")
    return zip(folders, folders.dropFirst()).contains { folder, inner in
      inner == "lib" && (folder == "nim" || folder.lowercased().hasPrefix("nim-"))
    }
  }

  private static let systemFolders = [
    "/lib/", "/lib32/", "/lib64/", "/libx32/",
    "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libx32/",
  ]

  private static let runtimeImagePrefixes = [
    "libmemtrace.so",
    "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so", "libunwind.so",
    "libswiftCore.so", "libswift_Concurrency.so", "libswift_StringProcessing.so",
    "libswift_RegexParser.so", "libswiftSwiftOnoneSupport.so", "libswiftSynchronization.so",
    "libjemalloc.so", "libtcmalloc", "libmimalloc", "libsnmalloc", "librpmalloc", "libscudo",
    "libstd-",
  ]

  private static let swiftCompilerPrefixes = [
    "swift-frontend", "swift-ide-test", "swift-refactor", "sil-", "lldb", "liblldb",
    "libsourcekitd", "lib_InternalSwiftScan.so",
  ]

  static func fileName(_ path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.index(after: slash)...])
  }
}

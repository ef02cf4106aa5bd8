import CLaunch
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Finds `libmemtrace.so`, the recorder that is preloaded into the traced process.
struct PreloadLocator {
  /// The environment variable that names the library outright, for tests and packagers.
  static let variable = "MEMTRACE_LIBRARY"

  static let fileName = "libmemtrace.so"

  /// The value of ``variable``, if it is set.
  var override: String?
  /// The value of `TMPDIR`, if it is set.
  var temporaryDirectory: String?
  /// The real path of the running executable.
  var executable: FilePath

  /// Where the library is looked for, in this order: the build folder's resource bundle, then
  /// the two places of an installation.
  var candidates: [FilePath] {
    let folder = executable.removingLastComponent()
    return [
      folder.appending("memtrace_memtrace.resources").appending(Self.fileName),
      folder.removingLastComponent().appending("lib/memtrace").appending(Self.fileName),
      folder.removingLastComponent().appending("lib").appending(Self.fileName),
    ]
  }

  /// An absolute path of the library that can be written in `LD_PRELOAD`.
  ///
  /// - Throws: ``CommandFailure`` when there is no library, or no such path of it.
  func locate() throws(CommandFailure) -> FilePath {
    let library = try find()
    if PreloadLink.isPreloadable(library) { return library }
    let link = PreloadLink(library: library, temporaryDirectory: temporaryDirectory)
    if let path = link.make() { return path }
    throw CommandFailure(
      "\(library) cannot be preloaded: LD_PRELOAD allows no space, colon or dollar sign in a "
        + "path, and no link to it can be made in \(link.folder); "
        + "move it, or set \(Self.variable) to a copy elsewhere",
      exitStatus: ExitStatus.cannotRecord)
  }

  private func find() throws(CommandFailure) -> FilePath {
    if let override, !override.isEmpty {
      let path = FilePath(override).absolute
      if Self.isReadable(path) { return path }
      throw CommandFailure(
        "\(path), named by \(Self.variable), is not a readable file",
        exitStatus: ExitStatus.cannotRecord)
    }
    if let found = candidates.first(where: Self.isReadable) { return found }
    throw CommandFailure(
      "\(Self.fileName) is missing; looked for \(candidates.map(\.string).joined(separator: ", "))",
      exitStatus: ExitStatus.cannotRecord)
  }

  private static func isReadable(_ path: FilePath) -> Bool {
    path.withPlatformString { access($0, R_OK) } == 0
  }
}

extension PreloadLocator {
  /// A locator for this process.
  static func current(environment: EnvironmentVariables) -> PreloadLocator {
    PreloadLocator(
      override: environment[variable], temporaryDirectory: environment["TMPDIR"],
      executable: FilePath("/proc/self/exe").resolved ?? executedPath)
  }

  /// What the kernel was asked to execute, without symbolic links: all that is known where `/proc` is not mounted.
  private static var executedPath: FilePath {
    guard let name = claunch_own_executable() else { return "memtrace" }
    guard let real = realpath(name, nil) else { return FilePath(platformString: name).absolute }
    defer { free(real) }
    return FilePath(platformString: real)
  }
}

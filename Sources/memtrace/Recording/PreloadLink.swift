import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A second path of the recorder, for one that stands where `LD_PRELOAD` cannot name it.
///
/// The loader splits the variable at spaces and colons, and replaces what follows a dollar sign
/// (ld.so(8)). Programs that the command starts load the recorder by this path, too, perhaps long
/// after memtrace has ended: so the link stays, and is found again the next time.
struct PreloadLink {
  /// The recorder's absolute path.
  let library: FilePath
  /// Where links are kept, of all users.
  let folder: FilePath

  /// Keeps the link in `TMPDIR`, else, or where that has such a path itself, in `/tmp`.
  init(library: FilePath, temporaryDirectory: String?) {
    self.library = library
    let chosen = FilePath(temporaryDirectory ?? "").absolute
    folder = temporaryDirectory?.isEmpty == false && Self.isPreloadable(chosen) ? chosen : "/tmp"
  }

  /// Whether the loader takes a path in `LD_PRELOAD` for what it is.
  static func isPreloadable(_ path: FilePath) -> Bool {
    !path.string.contains { $0 == " " || $0 == ":" || $0 == "$" }
  }

  /// The path of a symbolic link to the recorder, made where it is missing.
  ///
  /// - Returns: `nil` where it cannot be made, or someone else could put another library there.
  func make() -> FilePath? {
    guard let status = try? FileStatus(of: library) else { return nil }
    let own = folder.appending("memtrace-\(geteuid())")
    let place = own.appending("\(status.identity)")
    for directory in [own, place] where !Self.makeOwnDirectory(directory) { return nil }
    let link = place.appending(PreloadLocator.fileName)
    return link.resolved == library || point(link) ? link : nil
  }

  /// Points a link to the recorder at once, as another memtrace may be loading by it.
  private func point(_ link: FilePath) -> Bool {
    let new = link.removingLastComponent().appending("new-\(getpid())")
    _ = new.withPlatformString { unlink($0) }
    let made = library.withPlatformString { target in
      new.withPlatformString { symlink(target, $0) == 0 }
    }
    return made
      && new.withPlatformString { from in link.withPlatformString { rename(from, $0) == 0 } }
  }

  /// Whether a directory is there in which nobody else can change anything, made if need be.
  private static func makeOwnDirectory(_ path: FilePath) -> Bool {
    let isNew = path.withPlatformString { mkdir($0, 0o755) == 0 }
    // Programs that change their user load the recorder, too, whatever the umask says.
    if isNew { _ = path.withPlatformString { chmod($0, 0o755) } }
    guard let status = try? FileStatus(of: path, followingLinks: false) else { return false }
    return status.isDirectory && status.owner == geteuid() && !status.isWritableByOthers
  }
}

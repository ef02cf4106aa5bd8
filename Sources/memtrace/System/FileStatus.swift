import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What stat(2) says about a file.
struct FileStatus {
  private let fields: Glibc.stat

  /// - Throws: The error number of stat(2).
  init(of path: FilePath, followingLinks: Bool = true) throws(Errno) {
    var fields = Glibc.stat()
    let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
    let result = path.withPlatformString { fstatat(AT_FDCWD, $0, &fields, flags) }
    guard result == 0 else { throw Errno(rawValue: errno) }
    self.fields = fields
  }

  var owner: uid_t { fields.st_uid }
  var group: gid_t { fields.st_gid }
  /// Whether both are one file, perhaps by two names.
  func isSameFile(as other: FileStatus) -> Bool {
    fields.st_dev == other.fields.st_dev && fields.st_ino == other.fields.st_ino
  }

  var isDirectory: Bool { fields.st_mode & S_IFMT == S_IFDIR }
  /// Whether its group or all users may write to it.
  var isWritableByOthers: Bool { fields.st_mode & (S_IWGRP | S_IWOTH) != 0 }
  /// What tells it from all other files that there are.
  var identity: String { "\(fields.st_dev)-\(fields.st_ino)" }
}

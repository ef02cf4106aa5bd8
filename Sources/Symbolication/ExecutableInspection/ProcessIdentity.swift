import CSymbolication
import Glibc

/// Who would run an executable: decides whether the kernel takes it for privileged.
struct ProcessIdentity {
  var realUser: UInt32
  var effectiveUser: UInt32
  var effectiveGroup: UInt32

  /// The identity of this process.
  static var current: ProcessIdentity {
    ProcessIdentity(realUser: getuid(), effectiveUser: geteuid(), effectiveGroup: getegid())
  }

  /// Why the dynamic linker would ignore `LD_PRELOAD` for a file; `nil` when it would not.
  ///
  /// "Secure-execution mode" of https://man7.org/linux/man-pages/man8/ld.so.8.html: set where
  /// the file gives the process another user or group than it has, or capabilities.
  func privilege(ofFileAt path: String) -> ExecutableFinding.Kind? {
    var status = stat()
    var volume = statvfs()
    guard stat(path, &status) == 0 else { return nil }
    if statvfs(path, &volume) == 0, volume.f_flag & UInt(Self.noSetUserID) != 0 { return nil }
    let mode = status.st_mode
    if mode & S_ISUID != 0, status.st_uid != effectiveUser { return .setUserID }
    // Without group execution the bit means mandatory locking.
    if mode & S_ISGID != 0, mode & S_IXGRP != 0, status.st_gid != effectiveGroup {
      return .setGroupID
    }
    if realUser != 0, mt_has_file_capabilities(path) { return .fileCapabilities }
    return nil
  }

  /// `ST_NOSUID`, which Swift does not see because it is an enumerator.
  private static let noSetUserID = 2
}

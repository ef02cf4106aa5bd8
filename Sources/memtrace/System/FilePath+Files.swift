import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension FilePath {
  /// The path that a symbolic link at this path points to, one step; `nil` when it is no link.
  var resolved: FilePath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let length = withPlatformString { readlink($0, &buffer, buffer.count - 1) }
    guard length > 0 else { return nil }
    return FilePath(platformString: buffer)
  }

  /// This path, made absolute with the working directory, without touching symbolic links.
  var absolute: FilePath {
    if isAbsolute { return self }
    return FilePath.workingDirectory.pushing(self).lexicallyNormalized()
  }

  /// The working directory, or `.` when it is gone.
  static var workingDirectory: FilePath {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    guard getcwd(&buffer, buffer.count) != nil else { return "." }
    return FilePath(platformString: buffer)
  }

  /// Whether anything is at this path, a dangling link included.
  var exists: Bool {
    (try? FileStatus(of: self, followingLinks: false)) != nil
  }

  /// Checks that files can be made in the folder at this path.
  ///
  /// - Throws: The error number of what is in the way.
  func checkIsWritableFolder() throws(Errno) {
    // What is a file can be written and executed as well.
    guard try FileStatus(of: self).isDirectory else { throw Errno.notDirectory }
    let isWritable = withPlatformString {
      faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) == 0
    }
    guard isWritable else { throw Errno(rawValue: errno) }
  }

  /// What keeps the names in a directory from being read, if anything does.
  var errorOfReading: Errno? {
    guard let directory = withPlatformString({ opendir($0) }) else {
      return Errno(rawValue: errno)
    }
    closedir(directory)
    return nil
  }

  /// The names in a directory, in no order; empty when it cannot be read.
  var directoryEntries: [String] {
    guard let directory = withPlatformString({ opendir($0) }) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}

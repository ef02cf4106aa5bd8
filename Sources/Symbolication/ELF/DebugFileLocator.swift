import Glibc

/// Finds separate debug files on this machine, never by the network.
///
/// elfutils' own search (`dwfl_standard_find_debuginfo`) would ask a debuginfod server where
/// `DEBUGINFOD_URLS` is set; this one has no such step.
struct DebugFileLocator {
  /// Where debug files are looked for, for example `/usr/lib/debug`.
  let directories: [String]

  /// The debug file with this build ID, in `DIRECTORY/.build-id/ab/cdef….debug`.
  func file(withBuildID buildID: [UInt8]) -> ELFFile? {
    guard buildID.count >= 2 else { return nil }
    let digits = buildID.map(Self.hexadecimal)
    for directory in directories {
      let path = "\(directory)/.build-id/\(digits[0])/\(digits.dropFirst().joined()).debug"
      if let file = try? ELFFile(path: path), file.buildID == buildID { return file }
    }
    return nil
  }

  /// The debug file that belongs to `file`: by build ID, else by `.gnu_debuglink`.
  func debugFile(of file: ELFFile) -> ELFFile? {
    let buildID = file.buildID
    if let found = self.file(withBuildID: buildID) { return found }
    guard let link = file.debugLink, !link.name.isEmpty, !link.name.contains("/") else {
      return nil
    }
    for path in candidates(named: link.name, of: file.path) {
      guard let found = try? ELFFile(path: path), path != file.path else { continue }
      let belongs =
        buildID.isEmpty || found.buildID.isEmpty
        ? Checksum.ofFile(at: path) == link.checksum : found.buildID == buildID
      if belongs { return found }
    }
    return nil
  }

  private func candidates(named name: String, of path: String) -> [String] {
    var folders = [Self.folder(of: path)]
    // `/lib/x86_64-linux-gnu` is a link into `/usr/lib` on merged systems.
    if let real = realpath(path, nil) {
      defer { free(real) }
      let folder = Self.folder(of: String(cString: real))
      if folder != folders[0] { folders.append(folder) }
    }
    return folders.flatMap { folder in
      ["\(folder)/\(name)", "\(folder)/.debug/\(name)"]
        + directories.map { "\($0)\(folder)/\(name)" }
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return String(path[..<slash])
  }

  /// Two lowercase digits.
  static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return byte < 16 ? "0" + digits : digits
  }
}

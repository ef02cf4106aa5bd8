import Glibc

/// Finds separate debug files: on this machine, and by the network where that was asked for.
///
/// elfutils' own search (`dwfl_standard_find_debuginfo`) asks debuginfod servers wherever
/// `DEBUGINFOD_URLS` is set, and a report then hangs where they do not answer.
struct DebugFileLocator {
  /// Where debug files are looked for, for example `/usr/lib/debug`.
  let directories: [String]
  /// Where the recorded programs' own file system is; nil where it is this one.
  var root: SystemRoot?
  /// What has been fetched before, by whatever program.
  var cache: DebuginfodCache?
  /// What is asked where nothing else has the file.
  var servers: DebuginfodClient?

  /// The debug file with this build ID.
  ///
  /// - Parameters:
  ///   - buildID: Of the image.
  ///   - image: Its path, for those who wait.
  /// - Returns: nil where there is none.
  func file(withBuildID buildID: [UInt8], for image: String) -> ELFFile? {
    installedFile(withBuildID: buildID) ?? fetchedFile(withBuildID: buildID, for: image)
  }

  /// In `DIRECTORY/.build-id/ab/cdef….debug`.
  private func installedFile(withBuildID buildID: [UInt8]) -> ELFFile? {
    guard buildID.count >= 2 else { return nil }
    let digits = buildID.map(Self.hexadecimal)
    for directory in directories {
      let path = "\(directory)/.build-id/\(digits[0])/\(digits.dropFirst().joined()).debug"
      if let file = try? ELFFile(path: path), file.buildID == buildID { return file }
    }
    return nil
  }

  private func fetchedFile(withBuildID buildID: [UInt8], for image: String) -> ELFFile? {
    guard buildID.count >= 2 else { return nil }
    if let cached = cache?.path(ofBuildID: buildID), let file = try? ELFFile(path: cached),
      file.buildID == buildID
    {
      return file
    }
    guard let path = servers?.debugFile(ofBuildID: buildID, for: image),
      let file = try? ELFFile(path: path), file.buildID == buildID
    else { return nil }
    return file
  }

  /// The debug file that belongs to `file`: by build ID, else by `.gnu_debuglink`; one that was or is
  /// fetched only where the file has no debug information itself.
  func debugFile(of file: ELFFile) -> ELFFile? {
    let buildID = file.buildID
    if let found = installedFile(withBuildID: buildID) ?? linkedFile(of: file, buildID) {
      return found
    }
    return file.hasDebugInfo ? nil : fetchedFile(withBuildID: buildID, for: file.path)
  }

  private func linkedFile(of file: ELFFile, _ buildID: [UInt8]) -> ELFFile? {
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
    let recorded = folders.map { root?.path(of: $0) ?? $0 }
    return zip(folders, recorded).flatMap { folder, recorded in
      ["\(folder)/\(name)", "\(folder)/.debug/\(name)"]
        + directories.map { "\($0)\(recorded)/\(name)" }
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

import SystemPackage

/// The traces in a folder.
enum TraceFolder {
  /// Finds the traces of a folder, packed ones too.
  ///
  /// - Parameter name: The folder, as typed.
  /// - Returns: Their paths in alphabetical order, with their headers; nil when it is no folder.
  /// - Throws: ``CommandFailure`` when a folder has no trace.
  static func traces(
    in name: String
  ) throws(CommandFailure) -> [(path: String, header: TraceFileHeader)]? {
    let folder = FilePath(name)
    guard let status = try? FileStatus(of: folder), status.isDirectory else { return nil }
    let found = folder.directoryEntries.filter(OutputNaming.mayBeTrace).sorted().compactMap {
      entry in
      let path = folder.appending(entry)
      return TraceFileHeader(readingFrom: path).map { (path: path.string, header: $0) }
    }
    guard !found.isEmpty else {
      throw CommandFailure("there is no trace in \(name)", exitStatus: ExitStatus.noTrace)
    }
    return found
  }
}

import SystemPackage

/// The traces in a folder.
enum TraceFolder {
  /// One of them.
  struct Entry {
    var path: String
    /// nil for one that cannot be read: it may not be opened, was cut in its header, or another version wrote it.
    var header: TraceFileHeader?
  }

  /// Finds the traces of a folder, packed ones too, and those that cannot be read: nobody is to take what is
  /// known of the others for all.
  ///
  /// - Parameter name: The folder, as typed.
  /// - Returns: In alphabetical order of their paths; nil when it is no folder.
  /// - Throws: ``CommandFailure`` when a folder has no trace.
  static func traces(in name: String) throws(CommandFailure) -> [Entry]? {
    let folder = FilePath(argument: name)
    guard let status = try? FileStatus(of: folder), status.isDirectory else { return nil }
    let found = folder.directoryEntries.filter(OutputNaming.mayBeTrace).sorted().compactMap {
      name -> Entry? in
      let path = folder.appending(name)
      let header = TraceFileHeader(readingFrom: path)
      guard header != nil || TraceFileHeader.isTrace(path) || isCalledTrace(path) else {
        return nil
      }
      return Entry(path: path.string, header: header)
    }
    guard !found.isEmpty else {
      throw CommandFailure("there is no trace in \(name)", exitStatus: ExitStatus.noTrace)
    }
    return found
  }

  private static func isCalledTrace(_ path: FilePath) -> Bool {
    OutputNaming.isCalledTrace(path.string) && (try? FileStatus(of: path))?.isDirectory != true
  }
}

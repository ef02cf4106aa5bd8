import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// Creates a file for a packed or unpacked trace.
enum TraceWriting {
  /// Creates a file, lets `body` fill it, and removes it again if that fails.
  ///
  /// - Parameters:
  ///   - path: Nothing may be there yet.
  ///   - name: The path as the user knows it.
  ///   - body: Fills the empty file.
  /// - Returns: What `body` returns.
  /// - Throws: ``CommandFailure`` when the file cannot be created or written.
  static func create<Result>(
    _ path: FilePath, shownAs name: String,
    _ body: (FileDescriptor) throws(TraceError) -> Result
  ) throws(CommandFailure) -> Result {
    let file: FileDescriptor
    do {
      file = try FileDescriptor.open(
        path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch {
      throw CommandFailure(
        "cannot create \(name): \(error)", exitStatus: ExitStatus.cannotCreate)
    }
    do throws(TraceError) {
      let result = try body(file)
      try close(file)
      return result
    } catch {
      path.remove()
      throw CommandFailure("\(name): \(error.description)", exitStatus: ExitStatus.ioError)
    }
  }

  /// A full disk on a network may show only here.
  private static func close(_ file: FileDescriptor) throws(TraceError) {
    do {
      try file.close()
    } catch {
      throw TraceError(.io, "cannot be written: \(error)")
    }
  }
}

extension FilePath {
  /// Removes the file, if there is one.
  func remove() {
    withPlatformString { _ = unlink($0) }
  }
}

import CAttach
import CTraceFormat

#if canImport(Glibc)
  import Glibc
#endif

/// A library that a process is to open.
///
/// By its path, if the process sees the same file there, and may read it. Else, as in a container, it
/// is given a copy of it in memory.
struct RemoteLibrary {
  /// The absolute path, as we see it.
  let path: String

  /// `MFD_CLOEXEC` of Linux's `memfd.h`.
  private static let closesOnExec: UInt64 = 1

  /// - Parameters:
  ///   - loader: Who opens it.
  ///   - scratch: Room for texts.
  /// - Returns: The handle of the library.
  /// - Throws: ``AttachError`` when the process's loader refuses it.
  func open(by loader: RemoteLoader, scratch: inout Scratch) throws(AttachError) -> UInt64 {
    guard isSeen(by: loader.process) else { return try openCopy(by: loader, &scratch) }
    do throws(AttachError) {
      return try loader.open(marked(path), &scratch)
    } catch {
      guard case .refused = error, let copy = try? openCopy(by: loader, &scratch) else {
        throw error
      }
      return copy
    }
  }

  /// Whether the path leads to the same file in the process, which may have another root.
  private func isSeen(by process: RemoteProcess) -> Bool {
    var ours = stat()
    var theirs = stat()
    return stat(path, &ours) == 0 && stat("/proc/\(process.pid)/root\(path)", &theirs) == 0
      && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
  }

  private func openCopy(
    by loader: RemoteLoader, _ scratch: inout Scratch
  ) throws(AttachError) -> UInt64 {
    let name = try scratch.add(Array((path.split(separator: "/").last ?? "").utf8) + [0])
    let copy = try loader.calls.systemCall(
      cattach_number_memfd_create, [name, Self.closesOnExec])
    defer { _ = try? loader.calls.systemCall(cattach_number_close, [copy]) }
    try write(to: "/proc/\(loader.calls.tid)/fd/\(copy)")
    return try loader.open(marked("/proc/thread-self/fd/\(copy)"), &scratch)
  }

  private func write(to copy: String) throws(AttachError) {
    let source = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    let destination = Glibc.open(copy, O_WRONLY | O_CLOEXEC)
    defer {
      close(source)
      close(destination)
    }
    while case let count = sendfile(destination, source, nil, 1 << 30), count != 0 {
      guard count > 0 else { throw AttachError(errorNumber: errno) }
    }
  }

  /// The path by which the recorder knows that it is to wait for its options.
  private func marked(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return path[..<slash] + MT_ATTACH_MARK + path[path.index(after: slash)...]
  }
}

/// The loader of a process, called by a thread of it.
struct RemoteLoader {
  let process: RemoteProcess
  let calls: RemoteCalls
  let functions: LoaderFunctions
  let stack: UInt64

  /// Opens a library.
  ///
  /// - Returns: Its handle.
  /// - Throws: ``AttachError/refused(_:)`` with the loader's message.
  func open(_ path: String, _ scratch: inout Scratch) throws(AttachError) -> UInt64 {
    let text = try scratch.add(Array(path.utf8) + [0])
    let handle = try calls.call(functions.open, [text, functions.openMode], stack: stack)
    guard handle == 0 else { return handle }
    let message = try functions.message.map { function throws(AttachError) in
      try calls.call(function, stack: stack)
    }
    throw .refused(message.map { process.text(at: $0, limit: 1024) } ?? "")
  }
}

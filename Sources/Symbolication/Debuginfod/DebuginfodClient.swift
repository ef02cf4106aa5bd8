import Glibc

/// Asks debuginfod servers for debug files: those that `DEBUGINFOD_URLS` names.
///
/// By the system's libdebuginfod, which keeps what it fetches in its cache. The library is loaded when
/// it is asked for: nothing else here needs it. A client belongs to one thread at a time.
public final class DebuginfodClient {
  /// What a client says while it works.
  public struct Observer {
    /// Called while a file is fetched, with the image that it is for and the bytes so far and in all; once
    /// more with nothing in all when that is over.
    public var progress: (_ image: String, _ done: UInt64, _ total: UInt64) -> Void
    /// Called at most once, with the reason, where a server cannot be asked: then none is any more.
    public var failure: (_ reason: String) -> Void

    /// Makes an observer.
    public init(
      progress: @escaping (_ image: String, _ done: UInt64, _ total: UInt64) -> Void,
      failure: @escaping (_ reason: String) -> Void
    ) {
      self.progress = progress
      self.failure = failure
    }
  }

  private let library: DebuginfodLibrary
  private let handle: OpaquePointer
  private let observer: Observer
  private var hasFailed = false
  /// What is fetched now.
  private var image = ""

  /// Makes a client; nil where there is no libdebuginfod.
  ///
  /// - Parameter observer: Is told how it goes.
  public init?(observer: Observer) {
    guard let library = DebuginfodLibrary.shared, let handle = library.begin() else { return nil }
    self.library = library
    self.handle = handle
    self.observer = observer
    library.setUserData?(handle, Unmanaged.passUnretained(self).toOpaque())
    library.setProgress(handle) { handle, done, total in
      DebuginfodLibrary.shared?.userData?(handle).map {
        Unmanaged<DebuginfodClient>.fromOpaque($0).takeUnretainedValue().note(done, of: total)
      }
      return 0
    }
  }

  deinit {
    library.end(handle)
  }

  /// The debug file of a build, which is fetched where it is not in the cache.
  ///
  /// - Parameters:
  ///   - buildID: Of the image.
  ///   - image: Its path, for those who wait.
  /// - Returns: A path; nil where no server has the file, or none can be asked.
  func debugFile(ofBuildID buildID: [UInt8], for image: String) -> String? {
    guard !hasFailed, !buildID.isEmpty else { return nil }
    self.image = image
    var path: UnsafeMutablePointer<CChar>?
    let descriptor = library.findDebugInfo(handle, buildID, Int32(buildID.count), &path)
    observer.progress(image, 0, 0)
    guard descriptor >= 0 else {
      if descriptor != -ENOENT { fail(-descriptor) }
      return nil
    }
    close(descriptor)
    defer { free(path) }
    return path.map { String(cString: $0) }
  }

  private func note(_ done: Int, of total: Int) {
    guard total > 0 else { return }
    observer.progress(image, UInt64(clamping: done), UInt64(clamping: total))
  }

  private func fail(_ error: Int32) {
    hasFailed = true
    observer.failure(String(cString: strerror(error)))
  }
}

/// The functions of libdebuginfod.
///
/// Source: elfutils/debuginfod.h.
private struct DebuginfodLibrary: @unchecked Sendable {
  typealias Progress = @convention(c) (OpaquePointer?, Int, Int) -> Int32

  let begin: @convention(c) () -> OpaquePointer?
  let end: @convention(c) (OpaquePointer?) -> Void
  let findDebugInfo:
    @convention(c) (
      OpaquePointer?, UnsafePointer<UInt8>?, Int32,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32
  let setProgress: @convention(c) (OpaquePointer?, Progress?) -> Void
  /// Since elfutils 0.180.
  let setUserData: (@convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void)?
  let userData: (@convention(c) (OpaquePointer?) -> UnsafeMutableRawPointer?)?

  /// nil where it is not installed.
  static let shared = DebuginfodLibrary()

  private init?() {
    guard let library = dlopen("libdebuginfod.so.1", RTLD_NOW),
      let begin = dlsym(library, "debuginfod_begin"),
      let end = dlsym(library, "debuginfod_end"),
      let findDebugInfo = dlsym(library, "debuginfod_find_debuginfo"),
      let setProgress = dlsym(library, "debuginfod_set_progressfn")
    else { return nil }
    self.begin = unsafeBitCast(begin, to: type(of: self.begin))
    self.end = unsafeBitCast(end, to: type(of: self.end))
    self.findDebugInfo = unsafeBitCast(findDebugInfo, to: type(of: self.findDebugInfo))
    self.setProgress = unsafeBitCast(setProgress, to: type(of: self.setProgress))
    setUserData = unsafeBitCast(
      dlsym(library, "debuginfod_set_user_data"), to: type(of: self.setUserData))
    userData = unsafeBitCast(
      dlsym(library, "debuginfod_get_user_data"), to: type(of: self.userData))
  }
}

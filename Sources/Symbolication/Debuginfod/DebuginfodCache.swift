/// The debug files that programs of this user have fetched from debuginfod servers.
///
/// Source: debuginfod_find_debuginfo(3), "CACHE" and "ENVIRONMENT VARIABLES".
public struct DebuginfodCache: Sendable, Hashable {
  private let folder: String

  /// The cache in a folder.
  public init(folder: String) {
    self.folder = folder
  }

  /// The cache that an environment tells of; nil where it has no home.
  ///
  /// - Parameters:
  ///   - environment: The value of a variable; nil where it is not set.
  ///   - exists: Whether there is a file or folder.
  public init?(environment: (String) -> String?, exists: (String) -> Bool) {
    func value(_ name: String) -> String? {
      environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let folder = value("DEBUGINFOD_CACHE_PATH") {
      self.folder = folder
      return
    }
    let home = value("HOME")
    // Its place before there were rules for such folders.
    if let old = home.map({ "\($0)/.debuginfod_client_cache" }), exists(old) {
      folder = old
      return
    }
    guard let caches = value("XDG_CACHE_HOME") ?? home.map({ "\($0)/.cache" }) else { return nil }
    folder = "\(caches)/debuginfod_client"
  }

  /// The file that may hold the debug information of a build.
  ///
  /// One of no bytes says that no server has it.
  func path(ofBuildID buildID: [UInt8]) -> String {
    "\(folder)/\(buildID.map(DebugFileLocator.hexadecimal).joined())/debuginfo"
  }
}

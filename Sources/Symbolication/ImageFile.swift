import TraceReader

/// The file that an image came from.
///
/// Images of the same file and build share their symbols, wherever they were loaded.
struct ImageFile: Hashable {
  let path: String
  let buildID: [UInt8]

  init(path: String, buildID: [UInt8]) {
    self.path = path
    self.buildID = buildID
  }

  init(_ image: Image) {
    self.init(path: image.path, buildID: image.buildID)
  }
}

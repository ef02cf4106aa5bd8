import Glibc

/// Files of recorded programs, by their paths as the reports have them.
///
/// The name of a file is bytes, a path in a report text: where the bytes are no UTF-8 it has U+FFFD in
/// their place. Which file is meant the folder tells.
enum RecordedFile {
  /// Opens a file for reading, without waiting where a FIFO has taken its place.
  ///
  /// - Parameter path: With U+FFFD where the name of a folder or file is no UTF-8.
  /// - Returns: A descriptor; -1, and `errno`, where the file cannot be opened.
  static func open(_ path: String) -> Int32 {
    let descriptor = open(bytes: path.utf8CString.dropLast())
    guard descriptor < 0, errno == ENOENT, path.contains(replacement) else { return descriptor }
    let names = path.split(separator: "/", omittingEmptySubsequences: true)
    let found = open(names[...], in: path.hasPrefix("/") ? [slash] : [])
    if found < 0 { errno = ENOENT }
    return found
  }

  /// Reads a whole file, and closes it.
  ///
  /// - Parameters:
  ///   - descriptor: Of the file, at its beginning; -1 for none.
  ///   - limit: Longer files are not read.
  ///   - isRight: Whether it is the file that is meant.
  /// - Returns: Its bytes, fewer where it cannot be read further; nil for what is no file of this kind, or empty.
  static func contents(
    closing descriptor: Int32, upTo limit: Int, where isRight: (stat) -> Bool
  ) -> [UInt8]? {
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0, status.st_size <= limit, isRight(status)
    else { return nil }
    let count = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled..<count])
        let length = Glibc.read(descriptor, rest.baseAddress, rest.count)
        guard length > 0 else { break }
        filled += length
      }
    }
  }

  /// When a file was changed last, in nanoseconds since 1970.
  static func changeTime(_ status: stat) -> UInt64 {
    let seconds = UInt64(clamping: status.st_mtim.tv_sec)
    return seconds &* 1_000_000_000 &+ UInt64(clamping: status.st_mtim.tv_nsec)
  }

  private static let replacement: Character = "\u{fffd}"
  private static let slash = CChar(UInt8(ascii: "/"))

  private static func open(bytes path: some Sequence<CChar>) -> Int32 {
    Glibc.open(Array(path) + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  }

  /// Opens the first file there is by way of names that read like these.
  private static func open(_ names: ArraySlice<Substring>, in folder: [CChar]) -> Int32 {
    guard let name = names.first else { return open(bytes: folder) }
    let begin = folder.isEmpty || folder.last == slash ? folder : folder + [slash]
    for entry in entries(named: name, in: folder) {
      let found = open(names.dropFirst(), in: begin + entry)
      if found >= 0 { return found }
    }
    return -1
  }

  /// The names in a folder that read like this one.
  private static func entries(named name: Substring, in folder: [CChar]) -> [[CChar]] {
    guard name.contains(replacement) else { return [name.utf8.map(CChar.init(bitPattern:))] }
    guard let directory = opendir(folder.isEmpty ? [CChar(UInt8(ascii: ".")), 0] : folder + [0])
    else { return [] }
    defer { closedir(directory) }
    var found: [[CChar]] = []
    while let entry = readdir(directory) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 }.map { $0 } }
      let text = String(decoding: bytes, as: UTF8.self)
      if text.utf8.elementsEqual(name.utf8) { found.append(bytes.map(CChar.init(bitPattern:))) }
    }
    return found
  }
}

import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// An environment as `execve` takes it: `NAME=value` strings in their order.
///
/// Entries without `=` and repeated names are kept as they are: the traced process must see what
/// it would have seen without memtrace.
struct EnvironmentVariables {
  private(set) var entries: [CString]

  init(entries: [CString]) {
    self.entries = entries
  }

  init(_ values: KeyValuePairs<String, String>) {
    entries = values.map { CString("\($0)=\($1)") }
  }

  /// The environment of this process.
  static var current: EnvironmentVariables {
    var entries: [CString] = []
    var pointer = environ
    while let entry = pointer.pointee {
      entries.append(CString(copying: entry))
      pointer += 1
    }
    return EnvironmentVariables(entries: entries)
  }

  /// The value of a variable; setting replaces its first entry or appends one, `nil` removes all.
  subscript(name: String) -> String? {
    get { bytes(of: name).map { String(decoding: $0, as: UTF8.self) } }
    set { set(name, to: newValue.map { Array($0.utf8) }) }
  }

  /// The value of a variable, byte for byte.
  func bytes(of name: String) -> [UInt8]? {
    let prefix = Array("\(name)=".utf8)
    return entries.first { $0.bytes.starts(with: prefix) }
      .map { Array($0.bytes.dropFirst(prefix.count)) }
  }

  /// Sets a variable to a path, byte for byte.
  mutating func set(_ name: String, to path: FilePath) {
    set(name, to: path.withPlatformString { CString(copying: $0).bytes })
  }

  /// Sets or, with `nil`, removes a variable.
  mutating func set(_ name: String, to value: [UInt8]?) {
    let prefix = Array("\(name)=".utf8)
    guard let value else {
      entries.removeAll { $0.bytes.starts(with: prefix) }
      return
    }
    let entry = CString(bytes: prefix + value)
    if let index = entries.firstIndex(where: { $0.bytes.starts(with: prefix) }) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
  }
}

import Symbolication
import TraceReader

/// One frame of a backtrace as reports show it: plain values, no symbolicator needed any more.
public struct ReportFrame: Sendable, Hashable, Encodable {
  /// What the frame is to a reader; see `SymbolicatedFrame.Role`.
  public enum Role: String, Sendable, Encodable { case user, runtime, system, marker }

  /// What is known of a frame.
  private struct Facts: Sendable, Hashable {
    var name: String
    var fullName: String?
    var nameInShort: String?
    var symbol: String?
    var file: String?
    var line: Int?
    var image: String?
    var imageOffset: UInt64?
    var isInlined: Bool
    var role: Role
  }

  /// Facts that the same frame of many stacks refers to.
  private final class Place: Sendable {
    let facts: Facts

    init(_ facts: Facts) { self.facts = facts }
  }

  /// A report may hold a hundred thousand stacks, whose frames are those of a few thousand places.
  private var shared: Place
  private var facts: Facts {
    get { shared.facts }
    set { shared = Place(newValue) }
  }

  /// The name to print.
  public var name: String {
    get { facts.name }
    set { facts.name = newValue }
  }
  /// The whole demangled name, when it says more than `name`.
  public var fullName: String? { facts.fullName }
  /// The name that is printed where full names are not asked for.
  package var shortName: String { facts.nameInShort ?? name }
  /// The same where `name` is a full one.
  package var nameInShort: String? {
    get { facts.nameInShort }
    set { facts.nameInShort = newValue }
  }
  /// The symbol as the compiler wrote it, for patterns of other tools; not part of documents.
  public var symbol: String? {
    get { facts.symbol }
    set { facts.symbol = newValue }
  }
  /// The path of the source file.
  public var file: String? { facts.file }
  /// The line, counted from 1.
  public var line: Int? { facts.line }
  /// The path of the image that holds the code.
  public var image: String? { facts.image }
  /// Bytes from the beginning of the image, for `addr2line`.
  public var imageOffset: UInt64? { facts.imageOffset }
  /// Whether the compiler inlined the function into the next frame.
  public var isInlined: Bool { facts.isInlined }
  /// What the frame is to a reader.
  public var role: Role { facts.role }

  /// Makes a frame.
  public init(
    name: String, fullName: String? = nil, symbol: String? = nil, file: String? = nil,
    line: Int? = nil,
    image: String? = nil, imageOffset: UInt64? = nil, isInlined: Bool = false, role: Role = .user
  ) {
    shared = Place(
      Facts(
        name: name, fullName: fullName, symbol: symbol, file: file, line: line, image: image,
        imageOffset: imageOffset, isInlined: isInlined, role: role))
  }

  /// Takes over what reports need of a symbolicated frame.
  public init(_ frame: SymbolicatedFrame, fullNames: Bool = false) {
    let line = frame.location.map(\.line) ?? 0
    self.init(
      name: fullNames ? frame.fullDisplayName : frame.displayName,
      fullName: frame.fullDisplayName == frame.displayName ? nil : frame.fullDisplayName,
      symbol: frame.function?.raw, file: frame.location?.path, line: line > 0 ? line : nil,
      image: frame.imagePath,
      imageOffset: frame.imageOffset, isInlined: frame.isInlined, role: Role(frame.role))
    if fullNames, fullName != nil { nameInShort = frame.displayName }
  }

  /// The frame without what is not printed: where in its line the code lies.
  ///
  /// What the compiler made by itself has a file and no line, or is inlined and has neither. Only where nothing
  /// is known of the source, the address is what tells calls apart.
  var asRead: ReportFrame {
    var frame = self
    if file != nil || isInlined { frame.facts.imageOffset = nil }
    return frame
  }

  /// The frame as a place in the program, for tables that name nothing but functions and lines: wherever in
  /// its function the code lies, and whether the compiler inlined it.
  var asPlace: ReportFrame {
    var (frame, facts) = (self, facts)
    (facts.imageOffset, facts.isInlined) = (nil, false)
    frame.facts = facts
    return frame
  }

  /// Whether both say the same.
  public static func == (left: ReportFrame, right: ReportFrame) -> Bool {
    left.shared === right.shared || left.facts == right.facts
  }

  /// Hashes what is known of the frame.
  public func hash(into hasher: inout Hasher) { hasher.combine(facts) }

  /// Whether nothing but where it lies in its image is known of the code.
  var lacksName: Bool { symbol == nil && file == nil && image != nil && role != .marker }

  /// The last component of the image's path.
  public var imageName: String? { image.map(Self.lastComponent) }

  /// `parser.c:42`, or nil where the source is unknown; where the macro stands for code of macros.
  public var place: String? {
    guard let file else { return nil }
    let name = Self.lastComponent(file)
    if let place = SwiftMacroNames.place(inFile: name, line: line) { return place }
    return line.map { "\(name):\($0)" } ?? name
  }

  /// The frame in one line: `parse  parser.c:42`, `g_malloc  libglib-2.0.so.0`.
  package var title: String {
    let suffix = place ?? (name.hasPrefix((imageName ?? "/") + "+") ? nil : imageName)
    return suffix.map { "\(name)  \($0)" } ?? name
  }

  static func lastComponent(_ path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    let name = path[path.index(after: slash)...]
    return name.isEmpty ? path : String(name)
  }

  enum CodingKeys: String, CodingKey {
    case name, fullName, file, line, image, imageOffset, isInlined, role
  }

  /// Writes the frame; the offset as hexadecimal text, absent fields not at all.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(fullName, forKey: .fullName)
    try container.encodeIfPresent(file, forKey: .file)
    try container.encodeIfPresent(line, forKey: .line)
    try container.encodeIfPresent(image, forKey: .image)
    try container.encodeIfPresent(imageOffset.map(HexText.of), forKey: .imageOffset)
    if isInlined { try container.encode(true, forKey: .isInlined) }
    try container.encode(role, forKey: .role)
  }
}

extension ReportFrame.Role {
  fileprivate init(_ role: SymbolicatedFrame.Role) {
    switch role {
    case .user: self = .user
    case .runtime: self = .runtime
    case .system: self = .system
    case .marker: self = .marker
    }
  }
}

/// Addresses and offsets as text.
enum HexText {
  static func of(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}

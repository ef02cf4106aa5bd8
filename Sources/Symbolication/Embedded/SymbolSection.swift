/// The sections of a SYMBOLS chunk (docs/trace-format.md, section 9.3).
///
/// A chunk is understood by itself: strings and functions are those of the same chunk.
enum SymbolSection: UInt64 {
  case end = 0
  case strings = 1
  case functions = 2
  case images = 3
  case frames = 4
  case vtables = 5
  case variables = 6
  case fields = 7
  case types = 8
  case elements = 9
  case structures = 10
  case members = 11
  case texts = 12
  case valueSizes = 13

  /// Set in the language of a function whose readable names follow from the raw one.
  static let derivedNames: UInt64 = 0x80

  /// What is stored of a frame.
  struct Flags: OptionSet {
    let rawValue: UInt64

    static let inlined = Flags(rawValue: 1)
    static let start = Flags(rawValue: 2)
    static let location = Flags(rawValue: 4)
    static let function = Flags(rawValue: 8)
    static let allocationWrapper = Flags(rawValue: 16)
  }
}

extension SymbolLanguage {
  private static let inFile: [SymbolLanguage] = [.plain, .cxx, .rust, .swift, .d]

  var code: UInt64 { UInt64(Self.inFile.firstIndex(of: self) ?? 0) }

  init?(code: UInt64) {
    guard code < UInt64(Self.inFile.count) else { return nil }
    self = Self.inFile[Int(code)]
  }
}

extension SwiftField {
  private static let inFile: [Ownership] = [
    .strong, .weak, .unowned, .existential, .number, .optionalNumber,
  ]

  /// How it refers to an object; behind what all readers know, how many words from its beginning the reference is that
  /// the object counts, and behind that, that it only identifies one.
  var code: UInt64 {
    if ownership == .identifier { return Self.identifierCode }
    if ownership == .strong, let countedReference {
      return UInt64(Self.inFile.count) &+ countedReference / 8
    }
    return UInt64(Self.inFile.firstIndex(of: ownership) ?? 0)
  }

  /// Reads a field.
  ///
  /// - Parameters:
  ///   - name: The name in the source.
  ///   - offset: Where it is, in bytes.
  ///   - code: How it refers to an object.
  init(name: String, offset: UInt64, code: UInt64) {
    let known = UInt64(Self.inFile.count)
    guard code >= known else {
      self.init(name: name, offset: offset, ownership: Self.inFile[Int(code)])
      return
    }
    if code == Self.identifierCode {
      self.init(name: name, offset: offset, ownership: .identifier)
      return
    }
    let words = code - known
    self.init(
      name: name, offset: offset,
      countedReference: words <= Self.greatestPlace ? words * 8 : nil)
  }

  /// In words: a reference is in the first or the second one.
  private static let greatestPlace: UInt64 = 1

  private static let identifierCode = UInt64(inFile.count) + greatestPlace + 1
}

/// What was known of an image when its names were looked up.
enum EmbeddedImageState: UInt64 {
  /// Its files were read: what is not embedded is not known.
  case read = 1
  /// As before, but the file was newer than the trace and had no build ID to compare.
  case readButNewer = 2
}

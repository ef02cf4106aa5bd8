import TraceReader

/// What lies in each element of an array of Swift, or in each value of a dictionary.
public struct SwiftElements: Sendable, Hashable {
  /// How far elements are from each other, in bytes.
  public var stride: UInt64
  /// The stored properties of an element, with their offsets in it; none where an element is one
  /// reference.
  public var fields: [SwiftField]

  /// Where the first element is in the storage of an array.
  public static let start: UInt64 = 32

  /// Describes elements.
  public init(stride: UInt64, fields: [SwiftField] = []) {
    self.stride = stride
    self.fields = fields
  }

  /// What an offset in the storage of an array is called: `[3].owner`, `[3]`.
  ///
  /// - Returns: nil in front of the elements.
  public func name(at offset: UInt64) -> String? {
    guard offset >= Self.start, stride > 0 else { return nil }
    let (index, rest) = (offset - Self.start).quotientAndRemainder(dividingBy: stride)
    return "[\(index)]" + property(at: rest)
  }

  /// What an offset in a value of a dictionary is called: `value.owner`, `value`.
  public func nameOfValue(at offset: UInt64) -> String { "value" + property(at: offset) }

  private func property(at offset: UInt64) -> String {
    fields.last { $0.offset <= offset }.map { ".\($0.name)" } ?? ""
  }
}

/// Which types of a trace are arrays and dictionaries whose elements files may describe, and in which
/// images.
struct SwiftElementTypes {
  /// The images that define types of Swift, but for those of its own libraries.
  let images: [Image]
  /// The names of classes.
  private let classes: Set<String>

  init(_ types: TypeTable, _ images: ImageMap) {
    var (classes, found): (Set<String>, [UInt32: Image]) = ([], [:])
    for type in types.all where type.kind.isSwift {
      if type.kind == .swiftClass { classes.insert(type.name) }
      guard let image = images.image(containing: type.definition, at: type.time),
        !FrameClassifier.isSystemImage(at: image.path)
      else { continue }
      found[image.index] = image
    }
    self.classes = classes
    self.images = found.values.sorted { $0.index < $1.index }
  }

  /// The type of the elements of an array, or of the values of a dictionary; nil for what is neither.
  static func element(of type: BlockType) -> String? {
    guard type.kind == .swiftClass, type.name.hasSuffix(">") else { return nil }
    let (array, dictionary) = ("Swift._ContiguousArrayStorage<", "Swift._DictionaryStorage<")
    if type.name.hasPrefix(array) { return String(type.name.dropFirst(array.count).dropLast()) }
    guard type.name.hasPrefix(dictionary) else { return nil }
    return second(of: type.name.dropFirst(dictionary.count).dropLast())
  }

  /// The second of two types with a comma between them.
  private static func second(of types: Substring) -> String? {
    var depth = 0
    var last: Character = " "
    for index in types.indices {
      switch types[index] {
      case "<", "(", "[": depth += 1
      case ">" where last == "-": break
      case ">", ")", "]": depth -= 1
      case "," where depth == 0:
        return String(types[types.index(after: index)...].drop { $0 == " " })
      default: break
      }
      last = types[index]
    }
    return nil
  }

  /// Whether a type is a reference to an object, or an optional one.
  func isReference(_ name: String) -> Bool {
    let optional = "Swift.Optional<"
    let value =
      name.hasPrefix(optional) ? String(name.dropFirst(optional.count).dropLast()) : name
    return value == "Swift.AnyObject" || classes.contains(value)
  }
}

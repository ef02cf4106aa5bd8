import TraceReader

/// What lies in each element of an array of Swift.
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
    let field = fields.last { $0.offset <= rest }
    return "[\(index)]" + (field.map { ".\($0.name)" } ?? "")
  }
}

/// Which types of a trace are arrays whose elements files may describe, and in which images.
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

  /// The type of the elements of an array, whole; nil for what is no array.
  static func element(of type: BlockType) -> String? {
    let start = "Swift._ContiguousArrayStorage<"
    guard type.kind == .swiftClass, type.name.hasPrefix(start), type.name.hasSuffix(">") else {
      return nil
    }
    return String(type.name.dropFirst(start.count).dropLast())
  }

  /// Whether a type is a reference to an object, or an optional one.
  func isReference(_ name: String) -> Bool {
    let optional = "Swift.Optional<"
    let value =
      name.hasPrefix(optional) ? String(name.dropFirst(optional.count).dropLast()) : name
    return value == "Swift.AnyObject" || classes.contains(value)
  }
}

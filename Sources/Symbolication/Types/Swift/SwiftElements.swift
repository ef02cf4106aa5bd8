import TraceReader

/// What lies in each element of an array of Swift, or in each value of a dictionary.
public struct SwiftElements: Sendable, Hashable {
  /// How far elements are from each other, in bytes.
  public var stride: UInt64
  /// The stored properties of an element, or the parts of a tuple, with their offsets in it; none where an
  /// element is one value, or one without a name where it is an `Any`, `any P`, `ObjectIdentifier` or a reference.
  public var fields: [SwiftField]

  /// Where the first element is in the storage of an array.
  public static let start: UInt64 = 32

  /// What is known of a value that is a whole element.
  static func value(
    _ ownership: SwiftField.Ownership, countedReference: UInt64? = nil
  ) -> SwiftField {
    SwiftField(name: "", offset: 0, ownership: ownership, countedReference: countedReference)
  }

  /// What is known of an `Any` or `any P`.
  static let ofAnyType = [value(.existential)]

  /// What is known of a reference, and of a value of protocols of classes, which begins with one.
  static let ofObjects = [value(.strong, countedReference: 0)]

  /// Describes elements.
  public init(stride: UInt64, fields: [SwiftField] = []) {
    self.stride = stride
    self.fields = fields
  }

  /// What an offset in the storage of an array is called: `[3].owner`, `[3]`.
  ///
  /// - Returns: nil in front of the elements.
  public func name(at offset: UInt64) -> String? {
    guard offset >= Self.start, let place = place(of: offset - Self.start) else { return nil }
    return "[\(place.index)]" + property(at: place.offset)
  }

  /// Which element a place belongs to, and where in it that is.
  ///
  /// - Parameter offset: From the beginning of the first one.
  /// - Returns: nil where elements take no room, as a damaged trace may say.
  public func place(of offset: UInt64) -> (index: UInt64, offset: UInt64)? {
    guard stride > 0 else { return nil }
    let (index, rest) = offset.quotientAndRemainder(dividingBy: stride)
    return (index, rest)
  }

  /// What an offset in an element is called, behind what that is called: `.owner`, nothing.
  public func property(at offset: UInt64) -> String {
    fields.last { $0.offset <= offset && !$0.name.isEmpty }
      .map { $0.name.hasPrefix("[") ? $0.name : ".\($0.name)" } ?? ""
  }
}

/// Which types of a trace are arrays and dictionaries whose elements files may describe, and in which
/// images.
struct SwiftElementTypes {
  /// The images that define types of Swift, but for those of its own libraries.
  let images: [Image]
  /// All images by the names of their files; of several with one name the first.
  private let files: [String: Image]
  /// The names of classes.
  private let classes: Set<String>
  /// Those of generic classes without their arguments, whatever these are.
  private let genericClasses: Set<String>

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
    genericClasses = Set(classes.compactMap(SwiftGenericTypes.name))
    self.images = found.values.sorted { $0.index < $1.index }
    let named = images.images.map { (FrameClassifier.fileName($0.path), $0) }
    files = Dictionary(named) { first, _ in first }
  }

  /// The images that may define a type: those of ``images``, and the library that its module is.
  ///
  /// - Parameter name: Its whole name, or that of a generic type without its arguments.
  /// - Returns: Those of the program first.
  func images(defining name: String) -> [Image] {
    let module = name.prefix { $0 != "." }
    let libraries = ["lib\(module).so", "libswift\(module).so"]
    return images
      + (libraries + (module == "Swift" ? Self.standardLibraries : [])).compactMap { files[$0] }
  }

  /// What the standard library has in its module.
  private static let standardLibraries = ["libswiftCore.so", "libswift_Concurrency.so"]

  /// The type of the elements of an array, or of the values of a dictionary; nil for what is neither.
  static func element(of type: BlockType) -> String? {
    switch storage(type) {
    case .named("Swift._ContiguousArrayStorage", let types): types.first.map(String.init)
    case .named("Swift._DictionaryStorage", let types) where types.count == 2: String(types[1])
    default: nil
    }
  }

  /// The type of the keys of a dictionary, or of the elements of a set; nil for what is neither.
  static func key(of type: BlockType) -> String? {
    switch storage(type) {
    case .named("Swift._DictionaryStorage", let types): types.first.map(String.init)
    case .named("Swift._SetStorage", let types): types.first.map(String.init)
    default: nil
    }
  }

  private static func storage(_ type: BlockType) -> SwiftTypeParts.Form? {
    guard type.kind == .swiftClass, type.name.hasPrefix("Swift._"), type.name.hasSuffix(">") else {
      return nil
    }
    return SwiftTypeParts(type.name[...]).form
  }

  /// What a type is made of as far as its name tells; nil where files have to be asked.
  func layout(named name: String) -> SwiftElements? {
    valueLayout(named: name).map { value in
      let isOne = value.ownership != .strong || value.countedReference != nil
      let whole = SwiftElements.value(value.ownership, countedReference: value.countedReference)
      return SwiftElements(stride: value.stride, fields: (isOne ? [whole] : []) + value.fields)
    }
  }

  /// How many bytes a value of a type takes as far as its name tells; nil where files have to be asked.
  func valueLayout(named name: String) -> SwiftValueLayout? {
    SwiftValueLayout(ofTypeNamed: name, isReference: isReference)
  }

  /// Whether a type is a class of which there are objects, also with other arguments: in generic code what a closure
  /// captures is called `app.Future<A>`.
  func isReference(_ name: String) -> Bool {
    classes.contains(name) || SwiftGenericTypes.name(of: name).map(genericClasses.contains) == true
  }
}

import TraceReader

/// Names the types of a trace.
///
/// Names are made when they are asked for and kept. Belongs to one thread at a time.
public final class TypeNames {
  private let types: TypeTable
  private let images: ImageMap
  private let symbolicator: (any Symbolicator)?
  private var known: [TypeID: TypeName?] = [:]

  /// Makes names for the types of one trace.
  ///
  /// - Parameters:
  ///   - types: The types.
  ///   - images: The images that define them.
  ///   - symbolicator: Finds the symbols of vtables; nil leaves classes without type information
  ///     unnamed.
  public init(types: TypeTable, images: ImageMap, symbolicator: (any Symbolicator)? = nil) {
    self.types = types
    self.images = images
    self.symbolicator = symbolicator
  }

  /// The name of a type; nil where it turns out to be none, or has no name.
  public func name(of id: TypeID) -> TypeName? {
    if let name = known[id] { return name }
    let name = types[id].flatMap(makeName)
    known[id] = .some(name)
    return name
  }

  /// The name of a type of C++.
  ///
  /// - Parameters:
  ///   - address: Of its `type_info`.
  ///   - time: When it was there.
  /// - Returns: nil where neither the trace nor a symbol tells.
  public func name(describedAt address: Address, at time: EventTime) -> TypeName? {
    if let type = types.type(describedAt: address) { return name(of: type.id) }
    guard let image = images.image(containing: address, at: time),
      let symbol = symbolicator?.vtableSymbol(at: address, in: image)
    else { return nil }
    var name = CxxTypeNames.ofTypeInfo(symbol)
    name?.imagePath = image.path
    return name
  }

  /// Where a symbol may begin that names the objects that begin with a word: two words in front of
  /// what a vtable of C++ is used by, at the metadata of Embedded Swift.
  static func vtablePlaces(ofWord word: UInt64) -> [Address] {
    [Address(word &- 16), Address(word)]
  }

  private func makeName(_ type: BlockType) -> TypeName? {
    let image = images.image(containing: type.definition, at: type.time)
    var name: TypeName?
    switch type.kind {
    case .cxxClass: name = CxxTypeNames.ofClass(type.name)
    case .cxxVTable:
      let symbol = image.flatMap { image in
        type.words.lazy.flatMap(Self.vtablePlaces).compactMap { place in
          self.symbolicator?.vtableSymbol(at: place, in: image)
        }.first
      }
      name = symbol.flatMap {
        CxxTypeNames.ofVTable($0) ?? SwiftTypeNames.ofEmbeddedMetadata($0)
          ?? ClosureNames.ofClass($0) ?? DispatchNames.ofVTable($0)
      }
    case .swiftClass: name = Self.swift(SwiftTypeNames.ofClass(type.name), type)
    case .swiftBox: name = Self.swift(SwiftTypeNames.ofBox(type.name), type)
    case .swiftError: name = Self.swift(SwiftTypeNames.ofError(type.name), type)
    case .swiftCaptures: name = Self.swift(SwiftTypeNames.ofCaptures(type.name), type)
    case .swiftTask: name = Self.swift("Swift Task", type)
    case .swiftJob: name = Self.swift("Swift Job", type)
    case .unknown: name = nil
    }
    name?.imagePath = image?.path
    return name
  }

  private static func swift(_ short: String, _ type: BlockType) -> TypeName {
    let full = type.kind == .swiftClass ? type.name : short
    return TypeName(short: short, full: full, language: .swift)
  }
}

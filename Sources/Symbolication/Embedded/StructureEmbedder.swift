import TraceReader

/// Looks up the members of structures of C and C++ that reports on a trace can ask for.
struct StructureEmbedder {
  private let types: TypeTable
  private let images: ImageMap
  private let symbolicator: any Symbolicator

  /// So many places of an image are asked for a class, as some have no debug information.
  private static let mostPlaces = 16

  /// - Parameters:
  ///   - types: Those of the trace.
  ///   - images: Where they are defined.
  ///   - symbolicator: Reads files.
  init(types: TypeTable, images: ImageMap, symbolicator: any Symbolicator) {
    (self.types, self.images, self.symbolicator) = (types, images, symbolicator)
  }

  /// The structure that blocks have whose type the source names.
  ///
  /// - Parameters:
  ///   - type: The name.
  ///   - address: The ELF address of the code that allocates them.
  ///   - image: The image that holds the code.
  /// - Returns: nil where nothing tells its members.
  func structure(
    in type: TypeName, knownTo address: UInt64, of image: Image
  ) -> (StructureLayout, EmbeddedStructurePlace)? {
    guard let name = MemberPlace.structure(in: type.full),
      let layout = symbolicator.structure(
        named: name, isCxx: type.language == .cxx, knownTo: Address(address &+ image.loadBias),
        in: image)
    else { return nil }
    return (layout, EmbeddedStructurePlace(image: image.index, address: address, type: name))
  }

  /// Adds the classes of C++ that blocks themselves tell.
  ///
  /// - Parameters:
  ///   - code: For each image, ELF addresses of code of the program.
  ///   - add: Called for each class that is known in an image.
  func addClasses(
    knownTo code: [UInt32: [UInt64]], _ add: (StructureLayout, EmbeddedStructurePlace) -> Void
  ) {
    let names = classes()
    for image in images.images {
      guard let addresses = code[image.index] else { continue }
      for name in names {
        let layout = addresses.prefix(Self.mostPlaces).lazy.compactMap { address in
          self.symbolicator.structure(
            named: name, isCxx: true, knownTo: Address(address &+ image.loadBias), in: image)
        }.first
        guard let layout else { continue }
        add(layout, EmbeddedStructurePlace(image: image.index, address: nil, type: name))
      }
    }
  }

  private func classes() -> [String] {
    let typeNames = TypeNames(types: types, images: images, symbolicator: symbolicator)
    let names = types.all.compactMap { type -> String? in
      guard type.kind == .cxxClass || type.kind == .cxxVTable,
        let name = typeNames.name(of: type.id), name.language == .cxx
      else { return nil }
      return MemberPlace.structure(in: name.full)
    }
    return Set(names).sorted()
  }
}

import TraceReader

/// Looks up the members of what containers of C++ allocate, as the functions on stacks tell it.
///
/// A class means the same in all of an image: it is added once.
struct ContainerEmbedder {
  private let stacks: StackTable
  private let names: StackSymbolicator
  private let symbolicator: any Symbolicator
  private var found: Set<EmbeddedStructurePlace> = []
  private var asked: Set<EmbeddedStructurePlace> = []

  /// - Parameters:
  ///   - stacks: Those of the trace.
  ///   - images: Where their code lies.
  ///   - symbolicator: Reads files.
  init(stacks: StackTable, images: ImageMap, symbolicator: any Symbolicator) {
    self.stacks = stacks
    self.symbolicator = symbolicator
    names = StackSymbolicator(stacks: stacks, images: images, symbolicator: symbolicator)
  }

  /// Calls `add` for each structure that is known in an image.
  mutating func addStructures(_ add: (StructureLayout, EmbeddedStructurePlace) -> Void) {
    var isCaller = [Bool](repeating: false, count: stacks.count)
    stacks.forEachFrame { frame in
      if let caller = stacks.parent(of: frame.node), let position = stacks.position(of: caller) {
        isCaller[position] = true
      }
      return true
    }
    stacks.forEachFrame { frame in
      // Callers have frames of the program, or allocate nothing themselves.
      guard let position = stacks.position(of: frame.node), !isCaller[position],
        let type = names.container(of: frame.node), type.language == .cxx
      else { return true }
      for name in MemberPlace.structures(in: type.full) {
        addStructure(named: name, allocatedBy: frame.node, add)
      }
      return true
    }
  }

  private mutating func addStructure(
    named name: String, allocatedBy stack: StackID,
    _ add: (StructureLayout, EmbeddedStructurePlace) -> Void
  ) {
    _ = names.firstCode(on: stack) { address, image -> Bool? in
      let place = EmbeddedStructurePlace(image: image.index, address: nil, type: name)
      if found.contains(place) { return true }
      var own = place
      own.address = address.rawValue
      guard asked.insert(own).inserted,
        let layout = symbolicator.structure(
          named: name, isCxx: true, knownTo: address, in: image)
      else { return nil }
      found.insert(place)
      add(layout, place)
      return true
    }
  }
}

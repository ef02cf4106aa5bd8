import Symbolication
import TraceReader

/// Finds out what blocks are called, from the stack that allocated them and their size.
///
/// Found once for each stack and size class and kept. Belongs to one thread at a time.
public final class BlockCategories {
  private struct Key: Hashable {
    let stack: StackID
    let sizeClass: SizeClass
  }

  private struct CallKey: Hashable {
    let stack: StackID
    let operation: Operation
  }

  private let types: TypeTable
  private let typeNames: TypeNames
  private let images: ImageMap
  private let stackNames: StackNames?
  private let outerTypes: OuterTypes?
  private let isCxx: Bool
  private let isSwift: Bool
  private let hasDispatch: Bool
  private lazy var isRust = stackNames?.seesRust ?? false
  /// What ``known`` and ``knownCalls`` name by numbers: there are far more stacks than categories.
  private var categories = Numbering<BlockCategory?>()
  private var known: [Key: Int32] = [:]
  private var knownCalls: [CallKey: Int32] = [:]
  private var pythonImages: [UInt64: String?] = [:]

  /// Makes categories by size only.
  public init() {
    types = TypeTable()
    images = ImageMap(images: [])
    typeNames = TypeNames(types: types, images: images)
    stackNames = nil
    outerTypes = nil
    isCxx = false
    isSwift = false
    hasDispatch = false
  }

  /// Makes categories for the blocks of one trace.
  ///
  /// - Parameters:
  ///   - types: What the trace says about types.
  ///   - images: The images of the program: with a C++ library among them, containers are looked
  ///     for in stacks.
  ///   - typeNames: Names the types.
  ///   - stackNames: Names the functions that allocated and freed blocks.
  public init(
    types: TypeTable, images: ImageMap, typeNames: TypeNames, stackNames: StackNames
  ) {
    self.types = types
    self.images = images
    self.typeNames = typeNames
    self.stackNames = stackNames
    outerTypes = OuterTypes(stackNames, typeNames)
    isSwift = types.hasSwift
    hasDispatch = images.images.contains { $0.name.hasPrefix("libdispatch.") }
    isCxx =
      types.all.contains { $0.kind == .cxxClass }
      || images.images.contains { $0.name.hasPrefix("libstdc++") || $0.name.hasPrefix("libc++") }
  }

  /// The category of blocks of a site.
  public func category(of site: Site) -> BlockCategory {
    category(stack: site.stack, sizeClass: site.sizeClass, site.operation)
  }

  /// The category of a block.
  ///
  /// - Parameters:
  ///   - stack: The backtrace of its allocation.
  ///   - size: Requested bytes.
  ///   - operation: What allocated it.
  /// - Returns: Its type where that is known, else its size class.
  public func category(
    stack: StackID, size: UInt64, _ operation: Operation = .malloc
  ) -> BlockCategory {
    category(stack: stack, sizeClass: SizeClass(containing: size), operation)
  }

  private func category(
    stack: StackID, sizeClass: SizeClass, _ operation: Operation
  ) -> BlockCategory {
    let found = typeCategory(stack: stack, sizeClass: sizeClass, operation)
    guard operation.isOfAnnounced, case .size = found.kind else { return found }
    return BlockCategory(sizeClass, operation)
  }

  /// The category of blocks of a site, with everything that the stack and the source may tell.
  ///
  /// Where the type is not known, it is the one in the source line, or the caller: `malloc in f`.
  public func detailedCategory(of site: Site) -> BlockCategory {
    detailed(
      category(of: site), CallKey(stack: site.stack, operation: site.operation))
  }

  /// The category of a live block, with everything that can be known.
  ///
  /// - Parameters:
  ///   - block: A block that was live when the snapshot was taken.
  ///   - memory: The snapshot; nil leaves the block's own words out.
  /// - Returns: The category, and whether the block's own first word tells it.
  public func category(
    of block: LiveBlock, in memory: SnapshotMemory?
  ) -> (category: BlockCategory, isSeen: Bool) {
    if let memory,
      let own = ownCategory(of: block, in: memory)
        ?? runtimeCategory(of: block, in: memory)
    {
      return (own, true)
    }
    let category =
      isOfAnotherType(block, in: memory)
      ? untypedCategory(of: block)
      : category(stack: block.stack, size: block.size, block.operation)
    if let memory, let thrown = thrownCategory(of: block, category, in: memory) {
      return (thrown, true)
    }
    return (detailed(category, CallKey(stack: block.stack, operation: block.operation)), false)
  }

  /// Whether a block begins with the address of something, but of none of the types that its stack was seen to
  /// allocate.
  ///
  /// An object of Swift begins with the address of its type for as long as it lives. A generic function allocates
  /// objects of many types with one stack, of which the recorder has looked at the first.
  private func isOfAnotherType(_ block: LiveBlock, in memory: SnapshotMemory?) -> Bool {
    guard let memory, block.size >= 8 else { return false }
    let word = memory.word(at: block.address.rawValue)
    guard word != 0, word % 8 == 0,
      let finding = types.finding(
        stack: block.stack, sizeClass: SizeClass(containing: block.size))
    else { return false }
    let seen = finding.types.compactMap { types[$0] }
    return seen.allSatisfy { type in
      guard type.kind.isSwift, type.words.contains(word) else { return type.kind.isSwift }
      return type.kind == .swiftError
        && type.definition.rawValue != memory.word(at: block.address.rawValue &+ 16)
    }
  }

  /// What is known of a block beside the types that its stack was seen to allocate.
  private func untypedCategory(of block: LiveBlock) -> BlockCategory {
    let sizeClass = SizeClass(containing: block.size)
    return containerCategory(Key(stack: block.stack, sizeClass: sizeClass))
      ?? BlockCategory(sizeClass)
  }

  /// The type of an exception of C++, which its header names.
  private func thrownCategory(
    of block: LiveBlock, _ category: BlockCategory, in memory: SnapshotMemory
  ) -> BlockCategory? {
    guard CxxRuntimeBlocks.isException(category.name) else { return nil }
    // In the headers of libstdc++ and of libc++abi; see `InteriorPointers.isException`.
    let description = memory.word(at: block.address.rawValue &+ 16)
    guard description != 0 else { return nil }
    return typeNames.name(describedAt: Address(description), at: block.time).map {
      BlockCategory($0)
    }
  }

  /// The class of a Python object or an instance of GObject, or that a block is a slab.
  ///
  /// Only its own memory tells: such a runtime allocates objects of all classes with one stack.
  private func runtimeCategory(
    of block: LiveBlock, in memory: SnapshotMemory
  ) -> BlockCategory? {
    let (address, size) = (block.address.rawValue, block.size)
    if let name = memory.pythonClass(ofBlockAt: address, size: size),
      isFromPython(block, in: memory)
    {
      return BlockCategory(TypeName(short: name, full: name, language: .python))
    }
    if memory.usedSizeOfTaskSlab(at: address, size: size) != nil {
      return ofRuntime(
        TypeName(short: "Swift Task Slab", full: "Swift Task Slab", language: .swift), block.stack)
    }
    return memory.gobjectClass(ofBlockAt: address, size: size).map { name in
      BlockCategory(TypeName(short: name, full: name, language: .gobject))
    }
  }

  /// Whether Python's runtime can have allocated a block, as it does all objects.
  ///
  /// What another library asks the allocator for may begin with what a freed object has left there.
  private func isFromPython(_ block: LiveBlock, in memory: SnapshotMemory) -> Bool {
    guard let type = memory.pythonType,
      let runtime = image(ofPythonTypeAt: type, at: block.time),
      let caller = stackNames?.image(thatCallsAllocatorIn: block.stack)
    else { return true }
    return caller == runtime
  }

  private func image(ofPythonTypeAt address: UInt64, at time: EventTime) -> String? {
    if let known = pythonImages[address] { return known }
    let path = images.image(containing: Address(address), at: time)?.path
    pythonImages[address] = .some(path)
    return path
  }

  /// What a block's first word says.
  private func ownCategory(of block: LiveBlock, in memory: SnapshotMemory) -> BlockCategory? {
    let address = block.address.rawValue
    let word = memory.word(at: address)
    guard word != 0, block.size >= 8,
      let type = types.type(ofWord: word, content: memory.word(at: address &+ 16)),
      type.instanceSize <= block.size, Self.canAllocate(type, block.operation)
    else { return nil }
    // An object under construction or destruction has its base's word.
    let sizeClass = SizeClass(containing: block.size)
    let known = types.finding(stack: block.stack, sizeClass: sizeClass)?.types ?? []
    guard !known.contains(where: { types.isBase(type.id, of: $0) }) else { return nil }
    let key = Key(stack: block.stack, sizeClass: sizeClass)
    return outerCategory(of: type.id, key, block.operation)
      ?? typeNames.name(of: type.id).map { BlockCategory($0) }
  }

  /// Whether an object of a type can be allocated by a function.
  ///
  /// Those of Swift never are by `operator new`: what the runtime of Swift keeps in tables of C++ may begin with the
  /// address of a type.
  private static func canAllocate(_ type: BlockType, _ operation: Operation) -> Bool {
    !(type.kind.isSwift && operation.isOperatorNew)
  }

  /// The category of what begins with an object of a class, where it is something else.
  private func outerCategory(
    of first: TypeID, _ block: Key, _ operation: Operation
  ) -> BlockCategory? {
    outerTypes?.type(of: first, allocatedBy: block.stack, block.sizeClass, operation)
      .map { ofRuntime($0, block.stack) }
  }

  /// Whether a type is a class of Embedded Swift: its objects count their references without the Swift runtime.
  func isEmbeddedSwift(_ type: BlockType) -> Bool {
    type.kind == .cxxVTable && typeNames.name(of: type.id)?.language == .swift
  }

  /// Path of the image whose code is held responsible for what a stack allocated.
  func responsibleImage(of stack: StackID) -> String? {
    stackNames?.responsibleSymbol(of: stack)?.imagePath
  }

  private func detailed(_ category: BlockCategory, _ call: CallKey) -> BlockCategory {
    guard case .size = category.kind else { return category }
    if let known = knownCalls[call] { return categories.values[Int(known)] ?? category }
    let found = callCategory(call)
    knownCalls[call] = number(of: found)
    return found ?? category
  }

  private func callCategory(_ call: CallKey) -> BlockCategory? {
    guard let frame = stackNames?.responsibleSymbol(of: call.stack) else { return nil }
    if let type = stackNames?.allocatedType(of: call.stack, by: call.operation) {
      return BlockCategory(type)
    }
    let caller = ResponsibleFrame.describe(call.operation.blockName, in: frame)
    var category = BlockCategory(caller: caller)
    category.imagePath = frame.imagePath
    return category
  }

  private func typeCategory(
    stack: StackID, sizeClass: SizeClass, _ operation: Operation
  ) -> BlockCategory {
    // Without types there is nothing to find, and many sites to find it for.
    guard !types.isEmpty || hasContainers else { return BlockCategory(sizeClass) }
    let key = Key(stack: stack, sizeClass: sizeClass)
    if let number = known[key], let category = categories.values[Int(number)] { return category }
    let category =
      types.finding(stack: stack, sizeClass: sizeClass).flatMap { typeCategory($0, key, operation) }
      ?? containerCategory(key) ?? BlockCategory(sizeClass)
    known[key] = number(of: category)
    return category
  }

  private func number(of category: BlockCategory?) -> Int32 {
    Int32(clamping: categories.number(of: category))
  }

  /// Whether it is worth looking for containers in stacks.
  private var hasContainers: Bool { isCxx || isSwift || isRust || hasDispatch }

  private func containerCategory(_ block: Key) -> BlockCategory? {
    guard hasContainers, block.stack != .none, let stackNames else { return nil }
    let name =
      stackNames.container(of: block.stack)
      ?? stackNames.elements(of: block.stack, block.sizeClass)
    return name.map { ofRuntime($0, block.stack) }
  }

  /// What the Swift runtime and libdispatch keep in blocks has no metadata, which would tell where it is
  /// from: it is from the library that allocated it.
  private func ofRuntime(_ type: TypeName, _ stack: StackID) -> BlockCategory {
    var category = BlockCategory(type)
    if type.language == .swift || type.language == .c, type.imagePath == nil {
      category.imagePath = stackNames?.image(thatCallsAllocatorIn: stack)
    }
    return category
  }

  private func typeCategory(
    _ finding: TypeFinding, _ block: Key, _ operation: Operation
  ) -> BlockCategory? {
    guard
      finding.types.allSatisfy({ id in types[id].map { Self.canAllocate($0, operation) } ?? true })
    else { return nil }
    let outers = finding.types.map { outerCategory(of: $0, block, operation) }
    if let outer = outers.first, !outers.contains(nil) { return outer }
    let names = finding.types.compactMap(typeNames.name(of:))
    guard let first = names.first else { return nil }
    // Its destructor's word tells less than who allocated it.
    if names.count == 1, ContainerNames.isSharedBase(first.short) { return nil }
    if names.count > 1 { return BlockCategory(Self.alternative(names)) }
    guard first.language == .cxx, let owner = deletedClass(finding.freeStack) else {
      return BlockCategory(first)
    }
    return BlockCategory(
      TypeName(short: owner, full: owner, language: .cxx, imagePath: first.imagePath))
  }

  /// The class whose deleting destructor made the call.
  private func deletedClass(_ freeStack: StackID) -> String? {
    guard freeStack != .none else { return nil }
    return stackNames?.leafFunction(of: freeStack).flatMap(DeletingDestructor.className)
  }

  /// One stack made blocks of several types of one size: `geo::Circle or geo::Square`.
  private static func alternative(_ names: [TypeName]) -> TypeName {
    let shown = Array(Set(names.map(\.short))).sorted()
    let text =
      shown.count <= mostAlternatives
      ? shown.joined(separator: " or ") : "one of \(shown.count) types, such as \(shown[0])"
    return TypeName(
      short: text, full: shown.joined(separator: " or "), language: names[0].language,
      imagePath: names[0].imagePath)
  }

  private static let mostAlternatives = 3
}

import TraceReader

/// Gives names to the backtraces of a trace.
///
/// Names are looked up when they are asked for and kept for each address. Whole backtraces are
/// not kept: a report shows each once, and a trace can hold a million.
public final class StackSymbolicator {
  private struct Key: Hashable {
    let returnAddress: Address
    let image: UInt32?
    let isExact: Bool
    let omitted: UInt64?
  }

  /// What tells calls of an allocator apart.
  private struct AllocationKey: Hashable {
    let place: FramePlace
    let isNew: Bool
  }

  private let stacks: StackTable
  private let images: ImageMap
  private let types: TypeTable
  private let symbolicator: any Symbolicator
  private var locations: [Key: Int] = [:]
  private var framesOfLocation: [[SymbolicatedFrame]] = []
  private var allocators: [String: Bool] = [:]
  /// Of each stack only where the frame is: there are far more stacks than frames to blame.
  private var responsiblePlaces: StackMap<FramePlace?>
  private var allocatedTypes: [AllocationKey: TypeName?] = [:]

  /// Looked for where a stack begins with a function of the program that has no name.
  private lazy var unnamedAllocators = UnnamedAllocators(
    types, locations: { self.stacks.walk($0).lazy.map(self.location(of:)) },
    isUnnamed: self.isUnnamed)

  /// Makes a symbolicator of the backtraces of one trace.
  ///
  /// - Parameters:
  ///   - stacks: The backtraces.
  ///   - images: The images that their frames lie in.
  ///   - types: The types that blocks of some stacks were seen to have.
  ///   - symbolicator: Looks up the names.
  public init(
    stacks: StackTable, images: ImageMap, types: TypeTable = TypeTable(),
    symbolicator: any Symbolicator
  ) {
    self.stacks = stacks
    self.images = images
    self.types = types
    self.symbolicator = symbolicator
    responsiblePlaces = StackMap(stacks)
  }

  /// What could not be used and why, so far.
  public var warnings: [SymbolicationWarning] { symbolicator.warnings }

  /// A line of a source file; nil when it is not at hand or has changed since the recording.
  public func sourceLine(at location: SourceLocation) -> String? {
    symbolicator.sourceLine(at: location)
  }

  /// The frames of one recorded frame: several where calls were inlined, innermost first; a marker
  /// for a gap.
  public func frames(of raw: RawFrame) -> [SymbolicatedFrame] {
    framesOfLocation[location(of: raw)]
  }

  /// The frames that all recorded frames with a number of ``location(of:)`` have.
  public func frames(at location: Int) -> [SymbolicatedFrame] { framesOfLocation[location] }

  /// The number of what a recorded frame is of: the same for all frames at one address of an image.
  ///
  /// There are many more nodes in the stacks of a trace than places where it makes calls.
  public func location(of raw: RawFrame) -> Int {
    let image =
      raw.omitted == nil ? images.image(containing: raw.lookupAddress, seenBy: raw.node) : nil
    let key = Key(
      returnAddress: raw.returnAddress, image: image?.index, isExact: raw.isExact,
      omitted: raw.omitted)
    if let known = locations[key] { return known }
    let number = framesOfLocation.count
    locations[key] = number
    if let omitted = raw.omitted {
      framesOfLocation.append([SymbolicatedFrame(marker: "<\(omitted) or more frames left out>")])
    } else {
      framesOfLocation.append(
        symbolicator.frames(at: raw.returnAddress, in: image, isExact: raw.isExact))
    }
    return number
  }

  /// The frame that a report blames; `nil` where there is no stack.
  ///
  /// Looks up no more frames than it needs.
  public func responsibleFrame(of stack: StackID) -> SymbolicatedFrame? {
    responsiblePlace(of: stack).map { framesOfLocation[$0.location][$0.position] }
  }

  /// Where the frame is that a report blames; `nil` where there is no stack.
  public func responsiblePlace(of stack: StackID) -> FramePlace? {
    if let known = responsiblePlaces[stack] { return known }
    let found =
      responsiblePlace(of: stack) { self.isUnnamedAllocator($0) }
      ?? responsiblePlace(of: stack) { _ in false }
    responsiblePlaces.set(found, of: stack)
    return found
  }

  /// The same among what called the allocators that the innermost frames are of.
  private func responsiblePlace(
    of stack: StackID, passingOver isAllocator: @escaping (Int) -> Bool
  ) -> FramePlace? {
    var locations: [Int] = []
    let frames = stacks.walk(stack).lazy.map(self.location(of:)).drop(while: isAllocator)
      .flatMap { location in
        locations.append(location)
        return self.framesOfLocation[location]
      }
    return ResponsibleFrame.find(in: frames).flatMap { place(of: $0, at: locations) }
  }

  /// Whether of what is at a location nothing is known but that it is in the program.
  private func isUnnamed(_ location: Int) -> Bool {
    framesOfLocation[location].allSatisfy {
      $0.role == .user && $0.function == nil && $0.imagePath != nil
    }
  }

  private func isUnnamedAllocator(_ location: Int) -> Bool {
    !types.isEmpty && isUnnamed(location) && unnamedAllocators.contains(location)
  }

  /// Where one of the frames is that some locations have; mostly at the last one.
  private func place(of frame: SymbolicatedFrame, at locations: [Int]) -> FramePlace? {
    for location in locations.reversed() {
      if let position = framesOfLocation[location].firstIndex(of: frame) {
        return FramePlace(location: location, position: position)
      }
    }
    return nil
  }

  /// The frame that a report names as where code goes on.
  ///
  /// - Parameters:
  ///   - addresses: Where the functions go on, the innermost first.
  ///   - time: When.
  /// - Returns: The frame; `nil` where no address is given.
  public func responsibleFrame(
    ofCodeAt addresses: some Sequence<Address>, at time: EventTime
  ) -> SymbolicatedFrame? {
    ResponsibleFrame.find(
      in: addresses.lazy.flatMap { address in
        self.symbolicator.frames(
          at: address, in: self.images.image(containing: address, at: time), isExact: true)
      })
  }

  /// The type that the source names where it allocates; `nil` where that is not known.
  ///
  /// It is named where the allocator is called, by the program itself: constructors allocate more than
  /// the object that a `new` expression names. `malloc` may also be called through functions that are
  /// named like it (`xmalloc`, `g_malloc0`), or by a class's own `operator new`: then where these are called.
  public func allocatedType(of stack: StackID, isNew: Bool) -> TypeName? {
    var (isNew, left) = (isNew, isNew ? 1 : Self.mostWrappers)
    for raw in stacks.walk(stack) {
      let location = location(of: raw)
      for (position, frame) in framesOfLocation[location].enumerated() {
        guard left > 0, frame.role != .marker else { return nil }
        left -= 1
        let place = FramePlace(location: location, position: position)
        if let type = allocatedType(by: frame, at: place, of: raw, isNew) { return type }
        guard let function = frame.function, function.raw != Self.objectAllocator else {
          return nil
        }
        let isOperatorNew = RuntimeNames.isOperatorNew(of: function)
        guard isOperatorNew || isAllocator(function.base) else { return nil }
        if isOperatorNew { (isNew, left) = (true, 1) }
      }
    }
    return nil
  }

  private func allocatedType(
    by frame: SymbolicatedFrame, at place: FramePlace, of raw: RawFrame, _ isNew: Bool
  ) -> TypeName? {
    guard frame.isCompiledIn,
      let image = images.image(containing: raw.lookupAddress, seenBy: raw.node)
    else { return nil }
    let key = AllocationKey(place: place, isNew: isNew)
    if let known = allocatedTypes[key] { return known }
    let found = symbolicator.allocatedType(
      at: AllocationSite(
        programCounter: raw.returnAddress, isExact: raw.isExact, position: place.position,
        frame: frame, isNew: isNew), in: image)
    allocatedTypes[key] = .some(found)
    return found
  }

  private static let mostWrappers = 6
  /// What an object of Swift is it says itself.
  private static let objectAllocator = "swift_allocObject"

  /// The member of a block of C or C++ that may hold a pointer.
  ///
  /// The code that allocates an object knows its type, and so does who called a function that only allocates.
  ///
  /// - Parameters:
  ///   - place: Where in which block.
  ///   - stack: What allocated it.
  /// - Returns: `nil` where it is not known.
  public func member(at place: MemberPlace, allocatedBy stack: StackID) -> BlockMember? {
    var unused: BlockMember?
    // Another unit may mean another structure by that name.
    let used = firstCode(on: stack) { address, image -> BlockMember? in
      let member = symbolicator.member(at: place, knownTo: address, in: image)
      guard let member, member.isUnused else { return member }
      unused = unused ?? member
      return nil
    }
    return used ?? unused
  }

  /// How large the objects of a class of C++ are.
  ///
  /// - Parameters:
  ///   - type: The whole name of the class.
  ///   - stack: What allocated one, or something that it is part of.
  /// - Returns: Bytes; `nil` where they are not known.
  public func objectSize(of type: String, allocatedBy stack: StackID) -> UInt64? {
    firstCode(on: stack) { address, image in
      symbolicator.structure(named: type, isCxx: true, knownTo: address, in: image)?.size
    }
  }

  /// What the first code of the program tells that may know a type which a stack allocates.
  ///
  /// - Parameters:
  ///   - stack: The stack.
  ///   - find: Gets the address of the code, and its image.
  /// - Returns: `nil` where none tells it.
  func firstCode<Found>(on stack: StackID, _ find: (Address, Image) -> Found?) -> Found? {
    var left = Self.mostWrappers
    for raw in stacks.walk(stack) {
      guard left > 0 else { return nil }
      guard frames(of: raw).contains(where: \.isCompiledIn),
        let image = images.image(containing: raw.lookupAddress, seenBy: raw.node)
      else { continue }
      left -= 1
      if let found = find(raw.lookupAddress, image) { return found }
    }
    return nil
  }

  /// Whether a function is named like one that allocates; there are far fewer names than stacks.
  private func isAllocator(_ function: String) -> Bool {
    if let known = allocators[function] { return known }
    let found = AllocatorCall.isAllocator(function)
    allocators[function] = found
    return found
  }

  /// What the standard library of C++ or Rust allocated, named after the container, or the runtime of
  /// C++ or Swift, an accessor of Swift or libdispatch, besides objects; `nil` where it was none of them.
  ///
  /// Looks up no frame of the program beyond the first.
  public func container(of stack: StackID) -> TypeName? {
    let (frames, caller) = runtimeFrames(of: stack)
    return CxxRuntimeBlocks.name(of: frames, calledBy: caller) ?? ContainerNames.name(of: frames)
      ?? RustContainers.name(of: frames) ?? SwiftRuntimeBlocks.name(of: frames)
      ?? SwiftPointerBlocks.name(of: frames)
      ?? SwiftAccessorFrames.name(of: frames, calledBy: caller)
      ?? DispatchNames.ofRecord(frames, calledBy: caller)
  }

  /// What a container of the program, or of a library other than the standard one, has asked an allocator of the
  /// standard library of C++ for; `nil` where it was none.
  ///
  /// - Parameter stack: One of which ``container(of:)`` tells nothing.
  /// - Returns: The type of each of the elements.
  public func elementType(of stack: StackID) -> TypeName? {
    ContainerNames.elementType(of: runtimeFrames(of: stack).frames)
  }

  /// The innermost frames of a stack that belong to runtimes, and the one behind them.
  private func runtimeFrames(
    of stack: StackID
  ) -> (frames: [SymbolicatedFrame], caller: SymbolicatedFrame?) {
    var frames: [SymbolicatedFrame] = []
    for frame in stacks.walk(stack).lazy.flatMap(self.frames(of:)) {
      guard frame.role == .runtime else { return (frames, frame) }
      frames.append(frame)
    }
    return (frames, nil)
  }

  /// Whether a stack is one that allocates side tables of Swift objects.
  public func isSideTable(of stack: StackID) -> Bool {
    container(of: stack) == SwiftRuntimeBlocks.sideTable
  }

  /// Whether a stack is one by which the Swift runtime keeps what it knows of types.
  public func isSwiftMetadata(of stack: StackID) -> Bool {
    container(of: stack) == SwiftRuntimeBlocks.metadata
  }

  /// Whether a stack is one by which the Swift runtime may allocate something for itself that has no name.
  public func isUnnamedOfSwiftRuntime(_ stack: StackID) -> Bool {
    SwiftRuntimeBlocks.isUnnamed(stacks.walk(stack).lazy.flatMap(self.frames(of:)))
  }

  /// Whether a stack is one that allocates what `Rc` or `Arc` of Rust hold.
  public func countsReferences(of stack: StackID) -> Bool {
    container(of: stack).map(RustContainers.isReference) ?? false
  }

  /// Whether a stack is one that allocates the table of a `HashMap` or `HashSet` of Rust.
  public func isHashTable(of stack: StackID) -> Bool {
    container(of: stack).map(RustContainers.isTable) ?? false
  }

  /// Whether Rust code is on the stacks, as far as a few of them tell.
  ///
  /// Its standard library is part of every program, so no image gives it away.
  public var seesRust: Bool {
    let step = max(1, stacks.count / Self.stacksToProbe)
    return stride(from: 0, to: stacks.count, by: step).contains { position in
      let stack = StackID(UInt32(clamping: position) &+ StackID.first.rawValue)
      return stacks.frames(of: stack).prefix(Self.framesToProbe).lazy.flatMap(self.frames(of:))
        .contains { $0.function?.language == .rust }
    }
  }

  private static let stacksToProbe = 24
  private static let framesToProbe = 32

  /// The innermost frame of a backtrace, inlined or not; `nil` where there is no stack.
  public func leafFrame(of stack: StackID) -> SymbolicatedFrame? {
    stacks.frame(of: stack).flatMap { frames(of: $0).first }
  }
}

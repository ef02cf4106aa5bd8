import LeakAnalysis
import Symbolication
import TraceReader

extension Trace {
  /// The position of the snapshot that reports are about unless another one is asked for: the last
  /// that is complete, else the last; nil for a trace without one.
  public var usualSnapshot: Int? {
    (snapshots.last { $0.isComplete } ?? snapshots.last)?.index
  }

  /// What kept the recorder from taking a whole snapshot at the end; nil where nothing is known.
  public var whyNoEndSnapshot: String? {
    if let stop = coverage.stop {
      return "recording stopped before: \(stop.text)"
    }
    return notes.last { $0.kind == .noSnapshot }?.text
  }

  /// How the next recording of such a process gets a snapshot.
  private var wayToASnapshot: String {
    if coverage.missingBytes > 0 {
      let bytes = CountText.of(coverage.missingBytes, "byte", .is)
      return "the file was cut: \(bytes) missing at its end, where it may have been"
    }
    if coverage.damageCount > 0 {
      let places = CountText.of(coverage.damageCount, "place")
      return "the file is damaged in \(places), where it may have been"
    }
    if let reason = whyNoEndSnapshot { return "none could be taken at the end: \(reason)" }
    if windows?.isEmpty == true {
      return "recording was paused all the time: 'memtrace resume PID' begins it"
    }
    return switch ending {
    case .signal(9):  // SIGKILL
      "no process can take one then: take some while it runs, with --snapshot-interval or "
        + "--snapshot-on-request"
    case .signal, .abort: "record it with --snapshot-on-crash"
    case .exit, .quickExit:
      "'memtrace record' takes one when the program ends by exit(), without --no-exit-snapshot"
    case .underscoreExit:
      "'memtrace record' takes one when the program ends by exit(); one that makes system calls "
        + "itself (Go) takes one with MEMTRACE_SNAPSHOT of memtrace.h"
    case .exec: "look into the trace of that program, which 'memtrace info' names"
    case .running, .unknown:
      "record it with --snapshot-on-crash, or take one while it runs, with --snapshot-on-request or "
        + "--snapshot-interval"
    }
  }

  /// The position of the snapshot that a user means.
  ///
  /// - Parameters:
  ///   - choice: Which one, also of those that were cut.
  ///   - use: What it is to tell.
  /// - Returns: Its position in `snapshots`.
  /// - Throws: ``ReportError`` when there is none.
  public func snapshotIndex(
    _ choice: SnapshotChoice = .usual, for use: SnapshotUse = .leaks
  ) throws -> Int {
    // What only unsampled blocks point to would look leaked.
    if let sampling = Sampling(header: header) {
      throw ReportError.notFound(
        "\(use.subject) cannot be told in \(SamplingSummary(sampling).name): that takes every block; "
          + "record without --sample")
    }
    guard let usual = usualSnapshot else {
      throw ReportError.notFound(
        "\(path.lastComponent?.string ?? "the trace") has no heap snapshot, so \(use.failure): "
          + "the process \(EndingSummary(ending).text); \(wayToASnapshot)")
    }
    if let asked = try askedSnapshot(choice) { return asked }
    // Blocks that its missing part points to would look leaked: perhaps all of them.
    guard snapshots[usual].isComplete else { throw onlyCutSnapshots(snapshots[usual], use) }
    return usual
  }

  private func onlyCutSnapshots(_ snapshot: SnapshotInfo, _ use: SnapshotUse) -> ReportError {
    let reason = whyNoEndSnapshot.map { " (\($0))" } ?? ""
    let time = TimeText.timestamp(clock.nanoseconds(snapshot.time))
    return ReportError.notFound(
      "the heap snapshot of \(path.lastComponent?.string ?? "the trace") was cut off\(reason), so "
        + "\(use.failure); --at \(time) takes what there is")
  }

  /// Finds out what can be reached at a snapshot, with what the classes of the program tell.
  ///
  /// - Parameters:
  ///   - index: The position of the snapshot in `snapshots`.
  ///   - source: Knows the classes.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: The analysis.
  /// - Throws: `TraceError` when there is no such snapshot or the file cannot be read.
  public func leakAnalysis(
    atSnapshot index: Int, source: ReportSource,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws -> LeakAnalysis {
    let heap = try heap(atSnapshot: index, progress: progress)
    let types = SnapshotTypeNames(source)
    return LeakAnalysis(
      heap, layouts: objectLayouts(source, heap.memory), sharedCounts: sharedCounts(),
      facts: StackFacts(
        isSideTable: source.names.isSideTable(of:),
        holdsNoPointers: source.names.holdsNoPointers(of:),
        countsReferences: source.names.countsReferences(of:),
        isHashTable: source.names.isHashTable(of:),
        isSwiftMetadata: source.names.isSwiftMetadata(of:),
        isUnnamedOfSwiftRuntime: source.names.isUnnamedOfSwiftRuntime,
        isOfDispatch: source.names.isOfDispatch(of:),
        isOfGObject: source.names.isOfGObject(of:),
        isContainer: { source.names.container(of: $0) != nil },
        isElements: {
          source.names.container(of: $0).map { ContainerNames.mayHoldPointers($0.full) } ?? false
        },
        calls: { self.stacks.walk($0).prefix(4).map(\.returnAddress.rawValue) },
        isWeak: { types.isWeak(at: $0, of: $1, in: $2) },
        isCounted: { types.isCounted(at: $0, of: $1, in: $2) },
        isUnused: { types.isUnused(at: $0, of: $1, in: $2) }),
      valueSize: { source.layouts.valueSize(witnesses: $0, at: heap.info.time) },
      variable: { address in
        let variable = source.variables.variable(at: address, time: heap.info.time)
        return VariableWord(
          mayPoint: variable?.mayPoint ?? true, isUnowned: variable?.isUnowned ?? false,
          container: variable?.distanceInContainer.map { address &- $0 })
      })
  }

  /// What the types tell of the objects that begin with their words.
  private func objectLayouts(
    _ source: ReportSource, _ memory: SnapshotMemory
  ) -> [UInt64: ObjectLayout] {
    var layouts = source.layouts.objectLayouts(types, memory)
    for type in types.all where source.categories.isEmbeddedSwift(type) {
      for word in type.words { layouts[word] = ObjectLayout(isInstance: true) }
    }
    return layouts
  }

  /// What counts for objects of `std::shared_ptr`, by its first word.
  private func sharedCounts() -> [UInt64: SharedCounts] {
    var counts: [UInt64: SharedCounts] = [:]
    for type in types.all where type.kind == .cxxClass {
      guard let isOnlyForObject = SharedCountsName.isOnlyForObject(type.name) else { continue }
      for word in type.words { counts[word] = SharedCounts(isOnlyForObject: isOnlyForObject) }
    }
    return counts
  }

  /// What the complete snapshots before one found; none when it is the first.
  ///
  /// To be asked before that one is analysed: then there are never two analyses in memory.
  ///
  /// - Parameters:
  ///   - index: The position of the snapshot that a report is about.
  ///   - source: Names.
  ///   - query: Which leaks count.
  ///   - limit: At most so many snapshots, that one included, spread evenly: each takes as long as the
  ///     report. What is new is what the one looked at before did not find. nil for all.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: One element per snapshot, in their order, to which the last is to be added; nil when
  ///   it is the first.
  /// - Throws: `TraceError` when reading fails.
  public func discoveries(
    before index: Int, source: ReportSource, query: LeaksQuery, limit: Int? = nil,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws -> LeakDiscoveries? {
    guard index > 0 else { return nil }
    let earlier = completeSnapshots(before: index)
    let count = min(earlier.count, limit.map { max(0, $0 - 1) } ?? .max)
    var discoveries = LeakDiscoveries()
    for position in 0..<count {
      discoveries.add(
        try leakAnalysis(
          atSnapshot: earlier[position * earlier.count / count], source: source,
          progress: progress), source: source, query: query)
    }
    return discoveries
  }

  /// The positions of the snapshots before one that were written to their end.
  func completeSnapshots(before index: Int) -> [Int] {
    snapshots[..<index].filter(\.isComplete).map(\.index)
  }
}

/// What a snapshot is to tell.
public enum SnapshotUse: Sendable {
  /// What cannot be reached.
  case leaks
  /// What points into freed blocks.
  case danglingPointers

  fileprivate var subject: String {
    switch self {
    case .leaks: "leaks"
    case .danglingPointers: "dangling pointers"
    }
  }

  fileprivate var failure: String {
    switch self {
    case .leaks: "leaks cannot be told from blocks in use"
    case .danglingPointers: "pointers into freed blocks cannot be found"
    }
  }
}

extension SnapshotReason {
  /// The name of the mark, or that the program gave.
  var name: String? {
    switch self {
    case .mark(let name), .program(let name): name
    default: nil
    }
  }
}

extension SwiftLayouts {
  /// Everything that the types of a trace tell of where references are, by the first words of the
  /// objects.
  func objectLayouts(_ types: TypeTable, _ memory: SnapshotMemory) -> [UInt64: ObjectLayout] {
    var layouts: [UInt64: ObjectLayout] = [:]
    var errors: [UInt64: [UInt64: ObjectLayout]] = [:]
    for type in types.all {
      for word in type.words {
        guard let layout = objectLayout(of: type, word: word, memory) else { continue }
        if type.kind == .swiftError {
          errors[word, default: [:]][type.definition.rawValue] = layout
        } else {
          layouts[word] = layout
        }
      }
    }
    for (word, contents) in errors {
      layouts[word] = ObjectLayout(size: .max, contents: contents)
    }
    return layouts
  }

  /// - Returns: nil where nothing is known.
  private func objectLayout(
    of type: BlockType, word: UInt64, _ memory: SnapshotMemory
  ) -> ObjectLayout? {
    switch type.kind {
    case .swiftClass:
      let keys = keys(ofWord: word)
      if let elements = elements(ofWord: word) { return Self.container(of: elements, keys, type) }
      if let deque = deque(ofWord: word, memory: memory.word) {
        return Self.container(of: deque.elements, nil, type, startOfDeque: deque.start)
      }
      let fields = fields(ofWord: word, memory: memory.word)
      let table = Self.table(type.name)
      return ObjectLayout(
        size: Self.isKeyPath(type.name) ? .max : type.instanceSize,
        unownedOffsets: fields.filter(\.isUnowned).map(\.offset),
        identifierOffsets: Self.identifiers(fields),
        countedOffsets: Self.counted(fields, size: type.instanceSize),
        existentialOffsets: Self.existentials(fields, size: type.instanceSize),
        numberOffsets: fields.compactMap(\.numberOffset),
        table: table,
        hasIdentifiersAsKeys: table != nil && Self.hasIdentifiersAsKeys(type.name),
        isInstance: !type.name.hasPrefix("Swift."),
        isArray: type.name.hasPrefix("Swift._ContiguousArrayStorage<"),
        isTreeNode: isTreeNode(word, memory: memory.word),
        isText: type.name == "Swift.__StringStorage",
        actorOffset: fields.first { $0.name == "$defaultActor" }?.offset,
        keys: keys.map(Self.counted))
    case .swiftCaptures, .swiftBox, .swiftError:
      return ObjectLayout(
        size: .max, unownedFromEnd: unownedFromEnd(of: type),
        identifiersFromEnd: identifiersFromEnd(of: type), countedFromEnd: countedFromEnd(of: type),
        existentialOffsets: Self.existentials(capturedFields(of: type), size: .max),
        numbersFromEnd: numbersFromEnd(of: type))
    case .swiftTask, .swiftJob: return ObjectLayout(isTask: true)
    default: return nil
    }
  }

  private static func container(
    of elements: SwiftElements, _ keys: SwiftElements?, _ type: BlockType,
    startOfDeque: UInt64? = nil
  ) -> ObjectLayout {
    let fields = elements.fields
    let table = table(type.name)
    return ObjectLayout(
      size: type.instanceSize,
      unownedOffsets: fields.filter(\.isUnowned).map(\.offset),
      identifierOffsets: identifiers(fields),
      countedOffsets: counted(fields, size: elements.stride),
      existentialOffsets: existentials(fields, size: elements.stride),
      numberOffsets: fields.compactMap(\.numberOffset), table: table,
      hasIdentifiersAsKeys: table != nil && hasIdentifiersAsKeys(type.name), isArray: table == nil,
      isDeque: startOfDeque != nil, elementsStart: startOfDeque ?? SwiftElements.start,
      hasSmallElements: table == nil && elements.stride < addressSize,
      hasObjectsAsElements: table == nil && hasObjectsAsElements(type, elements),
      elementStride: elements.stride, keys: keys.map(counted))
  }

  private static func hasObjectsAsElements(_ type: BlockType, _ elements: SwiftElements) -> Bool {
    type.name == "Swift._ContiguousArrayStorage<Swift.String>"
      || elements.stride == addressSize && elements.fields.first?.countedReference == 0
  }

  /// What is known of the keys of dictionaries, and of the elements of sets.
  private static func counted(_ keys: SwiftElements) -> ObjectLayout.Keys {
    ObjectLayout.Keys(
      stride: keys.stride, countedOffsets: counted(keys.fields, size: keys.stride),
      identifierOffsets: identifiers(keys.fields))
  }

  private static func identifiers(_ fields: [SwiftField]) -> [UInt64] {
    fields.filter { $0.ownership == .identifier }.map(\.offset)
  }

  /// Of the properties that are existentials those with room for a value: protocols of classes only
  /// leave it out.
  private static func existentials(_ fields: [SwiftField], size: UInt64) -> [UInt64] {
    fields.indices.filter { fields[$0].ownership == .existential }.compactMap { index in
      room(for: index, in: fields, size: size) >= containerSize ? fields[index].offset : nil
    }
  }

  /// Where references are that their objects count: of properties that are nothing else, and of existentials of
  /// classes only.
  private static func counted(_ fields: [SwiftField], size: UInt64) -> [UInt64] {
    fields.indices.compactMap { index in
      let field = fields[index]
      if let place = field.countedReference { return field.offset &+ place }
      let isOfClasses =
        field.ownership == .existential
        && addressSize..<containerSize ~= room(for: index, in: fields, size: size)
      return isOfClasses ? field.offset : nil
    }
  }

  /// The bytes from the beginning of a property to that of the next one.
  private static func room(for index: Int, in fields: [SwiftField], size: UInt64) -> UInt64 {
    let end = index + 1 < fields.count ? fields[index + 1].offset : size
    return end - min(end, fields[index].offset)
  }

  private static let containerSize: UInt64 = 32
  private static let addressSize: UInt64 = 8

  private static func table(_ name: String) -> SwiftTable.Form? {
    name.hasPrefix("Swift._DictionaryStorage<")
      ? .dictionary : name.hasPrefix("Swift._SetStorage<") ? .set : nil
  }

  /// Whether a class is one of key paths: the components that lie behind their properties fill what was requested.
  private static func isKeyPath(_ name: String) -> Bool {
    ["", "Partial", "Writable", "ReferenceWritable"].contains {
      name.hasPrefix("Swift.\($0)KeyPath<")
    }
  }

  /// An `ObjectIdentifier` is the address of an object that whoever keeps it does not hold.
  private static func hasIdentifiersAsKeys(_ name: String) -> Bool {
    guard let arguments = name.firstIndex(of: "<") else { return false }
    let first = name[name.index(after: arguments)...]
    return ["Swift.ObjectIdentifier,", "Swift.ObjectIdentifier>"].contains { first.hasPrefix($0) }
  }
}

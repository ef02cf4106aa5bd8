import TraceReader

/// Misuses of the allocator: who allocated, who freed first, who freed again.
public struct ErrorsReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.errors"

  /// A block that an error is about, as it was allocated.
  public struct Block: Sendable, Hashable {
    /// Where the block begins.
    public var address: UInt64
    /// Requested bytes.
    public var size: UInt64
    /// The alignment asked for; 0 when none was.
    public var alignment: UInt64
    /// The category, such as `Malloc-16`.
    public var category: String
    /// Whether it is an object of Swift, which a release ends and no free.
    public var isSwiftObject = false
    /// The allocation.
    public var allocated: EventSummary
    /// The frame that is held responsible for it; nil without a stack; not part of the document.
    var responsible: ReportFrame?
  }

  /// Errors of one kind with the same stacks; the details are those of the first.
  public struct Entry: Sendable, Hashable {
    /// What was wrong.
    public var kind: MemoryError.Kind
    /// How many there are.
    public var count: UInt64
    /// The address that was passed.
    public var address: UInt64
    /// The block that is meant; nil when none is known.
    public var block: Block?
    /// Of an address that was never allocated, a live block that ends or begins next to it.
    public var neighbour: Block?
    /// Of an address that was never allocated and lies in an image, what lies there.
    public var variable: ReportVariable?
    /// Of one that lies in no image either, what has the address.
    var place: MemoryPlace?
    /// The deallocation that ended the block before; nil when it was live.
    public var firstFree: EventSummary?
    /// The name of the mark at which it was found; nil where it was not at one.
    public var mark: String?
    /// For an over-release, the releases that no retain goes with, as far as stacks tell.
    public var unbalanced: [EventSummary] = []
    /// The call that is wrong; of a write that was found later, when it was, without frames.
    public var offending: EventSummary

    /// Whether the wrong event is a write of which only the traces were found, without a stack.
    var isFoundLater: Bool {
      switch kind {
      case .writeAfterFree, .heapOverflow, .heapUnderflow: true
      default: false
      }
    }

    /// Whether a signal has stopped what is wrong, and no function of the allocator was called.
    public var isStopped: Bool { kind.isStopped }

    /// Whether the block was freed once, by the program's leave.
    public var isFreedOnce: Bool { isStopped || isFoundLater }

    /// The event to look at first: where the program is wrong, or next to it.
    public var foremost: EventSummary {
      switch kind {
      case .writeAfterFree: firstFree ?? offending
      case .heapOverflow, .heapUnderflow: block?.allocated ?? firstFree ?? offending
      default: offending
      }
    }
  }

  /// Allocations that returned NULL, from one stack.
  public struct Failure: Sendable, Hashable, Encodable {
    /// Requested bytes.
    public var size: UInt64
    /// How many there are.
    public var count: UInt64
    /// The first of them.
    public var first: EventSummary

    /// Whether more was asked for than there are numbers for: no size says how much.
    var overflows: Bool {
      size == .max && ["calloc", "reallocarray"].contains(first.function)
    }

    /// What was asked for: `malloc of 2.00 GiB`, `malloc of -1 B, less than nothing`.
    ///
    /// A program that has computed a number below 0 asks for nearly all that there are numbers for.
    func request(_ bytes: ByteStyle) -> String {
      if overflows { return "\(first.function), whose count times its size overflows" }
      let signed = Int64(bitPattern: size)
      guard signed < 0 else { return "\(first.function) of \(bytes.withUnit(size))" }
      return "\(first.function) of -\(bytes.withUnit(signed.magnitude)), less than nothing"
    }
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// The errors of each kind, those without an entry too.
  public var counts: [MemoryError.Category: UInt64]
  /// The errors, double frees first, then in order of first occurrence.
  public var entries: [Entry]
  /// How many groups of errors there are without a limit.
  public var entryCount: Int
  /// Allocations that returned NULL; not errors by themselves.
  public var failures: [Failure]
  /// How many allocations returned NULL.
  public var failureCount: UInt64
  /// Where the process ended that did not mean to; nil where that is not known, or an error says it.
  public var crash: CrashSummary?
  /// What was recorded last of a process that crashed, if nothing says where or why.
  public var lastEvent: EventSummary?
  /// At most so many frames of each stack in text; nil for all.
  public var frameLimit: Int?
  /// What the recording looked for in the heap while it ran.
  let checks: Set<HeapCheck>
  /// Whether the process crashed, and nothing in the trace says why.
  let isUnexplainedCrash: Bool

  /// Names the errors of a replay.
  ///
  /// - Parameters:
  ///   - result: The replay.
  ///   - source: Who was traced, and how to name things.
  ///   - kinds: Only errors of these kinds; nil for all.
  ///   - top: At most so many groups; nil for all.
  ///   - frameLimit: At most so many frames of each stack in text; nil for all.
  ///   - checks: What the recording looked for in the heap while it ran.
  public init(
    _ result: ReplayResult, source: ReportSource, kinds: Set<MemoryError.Category>? = nil,
    top: Int? = nil, frameLimit: Int? = nil, checks: Set<HeapCheck> = []
  ) {
    trace = source.summary(after: result)
    coverage = CoverageSummary(result.coverage)
    counts = result.errorCounts.filter { $0.value > 0 && kinds?.contains($0.key) ?? true }
    let errors = Self.joined(
      result.errors.filter { kinds?.contains($0.kind.category) ?? true }, by: source.names)
    entryCount = errors.count
    let ordered = errors.enumerated().sorted {
      ($0.element.kind.category.rank, $0.offset) < ($1.element.kind.category.rank, $1.offset)
    }
    entries = ordered.prefix(top ?? .max).map { Entry($0.element, source: source) }
    let failed = kinds == nil ? Self.joined(result.failedAllocations, by: source.names) : []
    failures = failed.prefix(top ?? .max).map { Failure($0, source: source) }
    failureCount = kinds == nil ? result.failedAllocationCount : 0
    self.frameLimit = frameLimit
    self.checks = checks
    let isTold = result.errors.contains { $0.kind.isStopped }
    crash =
      isTold || !trace.ending.isCrash || kinds != nil
      ? nil : source.crash.map { CrashSummary($0, source: source) }
    isUnexplainedCrash =
      result.errors.isEmpty && result.failedAllocationCount == 0 && trace.ending.isCrash
      && crash?.isStackOverflow != true
    lastEvent =
      isUnexplainedCrash && crash == nil
      ? source.lastEvent.map { EventSummary($0, source: source) } : nil
  }

  /// All errors together.
  public var totalCount: UInt64 { counts.values.reduce(0, &+) }
}

extension ErrorsReport.Entry {
  /// Names an error.
  init(_ error: MemoryError, source: ReportSource) {
    kind = error.kind
    count = error.count
    address = error.address.rawValue
    block = error.block.map { ErrorsReport.Block($0, source: source) }
    neighbour = error.neighbour.map { ErrorsReport.Block($0, source: source) }
    firstFree = error.firstFree.map { EventSummary($0, source: source) }
    mark = error.mark
    offending = EventSummary(error.offending, source: source)
    if error.kind == .freeOfUnknown, neighbour == nil {
      variable = source.variables.variable(
        at: error.address.rawValue, time: error.offending.time)
      if variable == nil {
        place = source.places.place(at: error.address.rawValue, time: error.offending.time)
      }
    }
    if error.kind == .overRelease { unbalanced = Self.unbalanced(error, source) }
  }

  private static func unbalanced(_ error: MemoryError, _ source: ReportSource) -> [EventSummary] {
    let life = RefcountLife(
      allocation: error.block?.allocation.stack, events: error.refcounts,
      freed: error.firstFree?.time, names: source.names)
    return life.ledger.unbalanced.compactMap { step in
      life.steps[step].event.flatMap { event in
        guard event.change < 0 else { return nil }
        return EventSummary(
          operation: Operation(event.call), thread: event.thread, time: event.time,
          stack: event.stack, source: source)
      }
    }
  }
}

extension ErrorsReport.Block {
  fileprivate init(_ block: MemoryError.BlockSummary, source: ReportSource) {
    address = block.address.rawValue
    size = block.size
    alignment = block.alignment
    let category = source.categories.category(
      stack: block.allocation.stack, size: block.size, block.allocation.operation)
    self.category = category.name
    isSwiftObject = category.isSwift
    allocated = EventSummary(block.allocation, source: source)
    responsible = source.names.responsible(of: block.allocation.stack)
  }
}

extension ErrorsReport.Failure {
  fileprivate init(_ failure: FailedAllocation, source: ReportSource) {
    size = failure.size
    count = failure.count
    first = EventSummary(
      operation: failure.function, thread: failure.thread, time: failure.time,
      stack: failure.stack, source: source)
  }
}

extension MemoryError.Kind {
  /// Whether a signal has stopped it.
  fileprivate var isStopped: Bool {
    switch self {
    case .useAfterFree, .accessAfterFree, .outOfBounds: true
    default: false
    }
  }
}

extension MemoryError.Category {
  /// The gravest first: what corrupts the heap, then what may.
  var rank: Int {
    switch self {
    case .doubleFree: 0
    case .useAfterFree: 1
    case .writeAfterFree: 2
    case .outOfBounds: 3
    case .heapOverflow: 4
    case .heapUnderflow: 5
    case .overRelease: 6
    case .reallocOfFreed: 7
    case .freeOfInterior: 8
    case .freeOfUnknown: 9
    case .mismatched: 10
    case .wrongSize: 11
    case .wrongAlignment: 12
    }
  }

  /// The name in JSON, CSV and options: `double-free`.
  public var identifier: String {
    switch self {
    case .doubleFree: "double-free"
    case .reallocOfFreed: "realloc-of-freed"
    case .freeOfInterior: "interior-free"
    case .freeOfUnknown: "invalid-free"
    case .mismatched: "mismatched-free"
    case .wrongSize: "wrong-size"
    case .wrongAlignment: "wrong-alignment"
    case .overRelease: "over-release"
    case .writeAfterFree: "write-after-free"
    case .useAfterFree: "use-after-free"
    case .heapOverflow: "heap-overflow"
    case .heapUnderflow: "heap-underflow"
    case .outOfBounds: "out-of-bounds"
    }
  }

  /// The category with this identifier.
  public init?(identifier: String) {
    guard let found = Self.allCases.first(where: { $0.identifier == identifier }) else {
      return nil
    }
    self = found
  }

  /// `double free`, as a counted noun.
  var noun: String {
    switch self {
    case .doubleFree: "double free"
    case .reallocOfFreed: "realloc of a freed block"
    case .freeOfInterior: "free inside a block"
    case .freeOfUnknown: "free of an address never allocated"
    case .mismatched: "mismatched deallocation"
    case .wrongSize: "deallocation with a wrong size"
    case .wrongAlignment: "deallocation with a wrong alignment"
    case .overRelease: "over-release"
    case .writeAfterFree: "write to a freed block"
    case .useAfterFree: "use of a freed block"
    case .heapOverflow: "write past the end of a block"
    case .heapUnderflow: "write in front of a block"
    case .outOfBounds: "access outside of a block"
    }
  }

  /// The noun in the plural.
  var plural: String {
    switch self {
    case .doubleFree: "double frees"
    case .reallocOfFreed: "reallocs of freed blocks"
    case .freeOfInterior: "frees inside blocks"
    case .freeOfUnknown: "frees of addresses never allocated"
    case .mismatched: "mismatched deallocations"
    case .wrongSize: "deallocations with a wrong size"
    case .wrongAlignment: "deallocations with a wrong alignment"
    case .overRelease: "over-releases"
    case .writeAfterFree: "writes to freed blocks"
    case .useAfterFree: "uses of freed blocks"
    case .heapOverflow: "writes past the ends of blocks"
    case .heapUnderflow: "writes in front of blocks"
    case .outOfBounds: "accesses outside of blocks"
    }
  }
}

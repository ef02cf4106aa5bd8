/// An ELF object that was mapped into the traced process, and when.
///
/// Source: `IMAGE` and `UNLOAD` records.
public struct Image: Hashable, Sendable {
  /// 0, 1, 2 … in order of appearance, never reused.
  public var index: UInt32
  /// The path it was loaded from.
  public var path: String
  /// The bytes of its build ID; empty when it has none.
  public var buildID: [UInt8]
  /// What to add to an ELF virtual address.
  public var loadBias: UInt64
  /// The lowest mapped address.
  public var start: Address
  /// One past the highest mapped address.
  public var end: Address
  /// The lowest executable address.
  public var textStart: Address
  /// One past the highest executable address.
  public var textEnd: Address
  /// When the image was first seen.
  public var loadTime: EventTime
  /// When the image was found missing; nil when it stayed.
  public var unloadTime: EventTime?
  /// Stack nodes from this ID on may lie in the image; older ones may not.
  public var firstStack: StackID
  /// Stack nodes from this ID on do not lie in the image; nil when it stayed.
  public var unloadedFromStack: StackID?

  /// Creates an image description.
  public init(
    index: UInt32, path: String, buildID: [UInt8] = [], loadBias: UInt64, start: Address,
    end: Address, textStart: Address, textEnd: Address, loadTime: EventTime = .distantPast,
    unloadTime: EventTime? = nil, firstStack: StackID = .none, unloadedFromStack: StackID? = nil
  ) {
    self.index = index
    self.path = path
    self.buildID = buildID
    self.loadBias = loadBias
    self.start = start
    self.end = end
    self.textStart = textStart
    self.textEnd = textEnd
    self.loadTime = loadTime
    self.unloadTime = unloadTime
    self.firstStack = firstStack
    self.unloadedFromStack = unloadedFromStack
  }

  /// The last component of the path.
  public var name: String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }

  /// Whether `address` was mapped from the image.
  public func contains(_ address: Address) -> Bool {
    start <= address && address < end
  }

  /// Whether a stack node of this age can lie in the image.
  public func wasLoaded(at node: StackID) -> Bool {
    firstStack <= node && node < (unloadedFromStack ?? StackID(.max))
  }

  /// Whether the image was mapped at a moment.
  public func wasLoaded(at time: EventTime) -> Bool {
    loadTime <= time && unloadTime.map { time < $0 } ?? true
  }
}

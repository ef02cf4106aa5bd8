import Synchronization

/// A list that may be too long for the memory: its elements are made one by one whenever it is gone
/// through.
///
/// In JSON an array; ``JSONDocument`` writes it part by part.
public struct LongList<Element: Sendable>: Sequence, Sendable {
  /// How many elements there are.
  public let count: Int
  /// Lists of so many elements or fewer are not made anew each time, see ``limited(to:)``.
  private static var greatestKeptCount: Int { 64 }
  private let make: @Sendable () -> AnyIterator<Element>

  /// - Parameters:
  ///   - count: How many elements there are.
  ///   - make: Begins to make them, the same ones each time.
  init(count: Int, _ make: @escaping @Sendable () -> AnyIterator<Element>) {
    self.count = count
    self.make = make
  }

  /// A list of elements that are there already.
  public init(_ elements: [Element] = []) {
    self.init(count: elements.count) { AnyIterator(elements.makeIterator()) }
  }

  /// Begins at the first element.
  public func makeIterator() -> AnyIterator<Element> { make() }

  /// Whether there are no elements.
  public var isEmpty: Bool { count == 0 }

  /// The first element; nil when there is none.
  public var first: Element? { makeIterator().next() }

  /// The first elements; all for nil.
  ///
  /// A few of them are made at once: what they are made of, perhaps a whole heap, is not kept for them.
  func limited(to limit: Int?) -> LongList {
    let limit = Swift.max(0, Swift.min(limit ?? count, count))
    guard limit > Self.greatestKeptCount else { return LongList(Array(prefix(limit))) }
    guard limit < count else { return self }
    return LongList(count: limit) { [make] in
      let elements = make()
      var left = limit
      return AnyIterator {
        guard left > 0 else { return nil }
        left -= 1
        return elements.next()
      }
    }
  }

  /// A list of what becomes of each element.
  func converted<Other: Sendable>(
    _ convert: @escaping @Sendable (Element) -> Other
  ) -> LongList<Other> {
    LongList<Other>(count: count) { [make] in
      let elements = make()
      return AnyIterator { elements.next().map(convert) }
    }
  }
}

extension LongList: Equatable where Element: Equatable {
  /// Compares all elements and their order.
  public static func == (left: LongList, right: LongList) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension LongList: Encodable where Element: Encodable {
  /// Writes an array, or what stands for it until ``JSONDocument`` writes its elements.
  public func encode(to encoder: any Encoder) throws {
    if let lists = encoder.userInfo[.longLists] as? LongListPlaceholders {
      var container = encoder.singleValueContainer()
      try container.encode(lists.add(self))
      return
    }
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

/// The long lists of a JSON document, and the texts that stand for them.
final class LongListPlaceholders: Sendable {
  /// A list whose elements can be written.
  struct List: Sendable {
    /// The text in its place.
    let placeholder: String
    /// Calls its argument with a few elements after the other, as JSON arrays.
    let forEachPart: @Sendable ((any Encodable) throws -> Void) throws -> Void
  }

  private let lists = Mutex<[List]>([])
  // Nothing that a traced program may have called itself.
  private let name = "list \(UInt64.random(in: 0 ... .max)) \(UInt64.random(in: 0 ... .max))"

  private static let partLength = 1 << 10

  var all: [List] { lists.withLock { $0 } }

  func add<Element: Encodable>(_ list: LongList<Element>) -> String {
    lists.withLock { lists in
      let placeholder = "\(name) \(lists.count)."
      lists.append(
        List(placeholder: placeholder) { body in
          var part: [Element] = []
          for element in list {
            part.append(element)
            guard part.count == Self.partLength else { continue }
            try body(part)
            part.removeAll(keepingCapacity: true)
          }
          if !part.isEmpty { try body(part) }
        })
      return placeholder
    }
  }
}

// Cycles through structures that are in generic classes, tuples with labels, inline arrays, managed buffers, and what a
// stream calls at its end; and objects that are leaked, as only `unowned` references in such structures lead to them.

final class Page {
  var this: Page?
  init() { this = self }
}

@inline(never) func newPage() -> Page { Page() }

final class Node {
  var owner: AnyObject?
}

class List<Element> {
  struct Link {
    var count: Int32 = 0
    var element: Element?
    unowned var page = newPage()
    var call: (@Sendable (Int) -> Void)?
    var node: Node?

    struct Note {
      var node: Node?
      var link: Link?
    }
  }

  var link = Link()
  var links: [Link] = []
  var note = Link.Note()
}

final class Couple {
  var pair: (number: Int, node: Node?) = (1, nil)
  var name: (first: String, node: Node)?
}

final class Buffer: ManagedBuffer<Int32, (Int, Node?)> {}
final class Texts<Element>: ManagedBuffer<String, Element> {}

final class Promise<Value> {
  var callbacks: [(Value) -> Void] = []

  /// What it captures are references whatever `Value` and `Other` are.
  func map<Other>(_ transform: @escaping (Value) -> Other) -> Promise<Other> {
    let other = Promise<Other>()
    callbacks.append { [self] value in
      keepAlive(self)
      for call in other.callbacks { call(transform(value)) }
    }
    return other
  }
}

final class Source: @unchecked Sendable {
  let stream: AsyncStream<Int>
  let failing: AsyncThrowingStream<Int, any Error>

  init(isFailing: Bool) {
    var end: AsyncStream<Int>.Continuation?
    var failure: AsyncThrowingStream<Int, any Error>.Continuation?
    stream = AsyncStream { end = $0 }
    failing = AsyncThrowingStream { failure = $0 }
    if isFailing {
      failure?.onTermination = { _ in keepAlive(self) }
    } else {
      end?.onTermination = { _ in keepAlive(self) }
    }
  }
}

@inline(never) func keepAlive(_ object: AnyObject) { latest = object }

nonisolated(unsafe) var latest: AnyObject?
nonisolated(unsafe) var kept = Array(repeating: UInt8(1), count: 100_000)

/// The optimizer leaves no owner out, as a variable has held it.
@inline(never) func node(_ owner: AnyObject) -> Node {
  let node = Node()
  node.owner = owner
  latest = owner
  return node
}

@inline(never) func leakByNestedTypes() {
  let (first, second, third) = (List<UInt8>(), List<String>(), List<Int>())
  first.link.node = node(first)
  second.links = [List<String>.Link(), List<String>.Link()]
  second.links[1].node = node(second)
  third.note.node = node(third)
}

@inline(never) func leakByTuples() {
  let (first, second) = (Couple(), Couple())
  first.pair.node = node(first)
  second.name = ("a text", node(second))
}

@inline(never) func leakByBuffers() {
  let numbers = Buffer.create(minimumCapacity: 2) { _ in 2 }
  numbers.withUnsafeMutablePointerToElements {
    $0.initialize(to: (1, nil))
    ($0 + 1).initialize(to: (2, node(numbers)))
  }
  let texts = Texts<Node>.create(minimumCapacity: 1) { _ in "a text" }
  texts.withUnsafeMutablePointerToElements { $0.initialize(to: node(texts)) }
}

@inline(never) func leakByStreams() {
  latest = Source(isFailing: false)
  latest = Source(isFailing: true)
}

@inline(never) func leakByCaptures() {
  latest = Promise<Int>().map { String($0) }
}

#if compiler(>=6.2)
  final class Row {
    var slots = InlineArray<3, (number: Int32, node: Node?)>(repeating: (0, nil))
    var isLast = false
    var node: Node?
  }

  final class Many {
    var numbers = InlineArray<2000, UInt8>(repeating: 1)
    var node: Node?
  }

  @inline(never) func leakByInlineArrays() {
    let (first, second, third) = (Row(), Row(), Many())
    first.slots[2].node = node(first)
    second.node = node(second)
    third.node = node(third)
  }
#endif

@inline(never) func clearStack(_ depth: Int) -> Int {
  depth == 0 ? 0 : 1 + clearStack(depth - 1)
}

leakByNestedTypes()
leakByTuples()
leakByBuffers()
leakByStreams()
leakByCaptures()
#if compiler(>=6.2)
  leakByInlineArrays()
#endif
latest = nil
print(clearStack(50), kept.count)

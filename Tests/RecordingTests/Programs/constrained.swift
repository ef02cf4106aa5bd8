// Values of protocols with arguments, in arrays and dictionaries. Compiled with -module-name app.

protocol Shape<Element> {
  associatedtype Element
  var element: Element { get }
}
protocol Tagged {}
protocol Watcher<Event>: AnyObject {
  associatedtype Event
}
/// Its arguments are in another order than their names.
protocol Table<Value, Key> {
  associatedtype Key
  associatedtype Value
}

final class Square<Element>: Shape, Tagged {
  let element: Element
  var keeper: AnyObject?
  init(_ element: Element, _ keeper: AnyObject?) {
    self.element = element
    self.keeper = keeper
  }
}

final class Clock: Watcher {
  typealias Event = Int
  var keeper: AnyObject?
}

struct Pair<Key, Value>: Table {
  var keeper: AnyObject
}

final class Keeper {
  var shapes: [any Shape<Int>] = []
  var tagged: [any Shape<[String]> & Tagged] = []
  var watchers: [any Watcher<Int>] = []
  var tables: [String: any Table<String, Int>] = [:]
  var texts: [any Sequence<Int>] = []
  var optionals: [(any Shape<Bool>)?] = []
}

final class Objects: Sequence {
  var keeper: AnyObject?
  func makeIterator() -> IndexingIterator<[Int]> { [].makeIterator() }
}

@inline(never) func close() {
  let keepers = (0..<6).map { _ in Keeper() }
  keepers[0].shapes = [Square(1, nil), Square(2, keepers[0])]
  keepers[1].tagged = [Square([], nil), Square(["a"], keepers[1])]
  let clock = Clock()
  clock.keeper = keepers[2]
  keepers[2].watchers = [Clock(), clock]
  keepers[3].tables = ["a": Pair<Int, String>(keeper: keepers[3])]
  let objects = Objects()
  objects.keeper = keepers[4]
  keepers[4].texts = [[1], objects]
  keepers[5].optionals = [nil, Square(true, keepers[5])]
}

@inline(never) func clear(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return depth == 0 ? 0 : clear(depth - 1) + Int(memory[7])
  }
}

close()
print(clear(20))

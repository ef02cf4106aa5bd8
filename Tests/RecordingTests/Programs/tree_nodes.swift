// Nodes of the trees of swift-collections: children at the beginning, items at the end, and between them what was there
// before. Compiled with -module-name app.

struct _Bitmap { var _value: UInt32 }

struct _HashNodeHeader {
  var itemMap: _Bitmap
  var childMap: _Bitmap
  var _byteCapacity: UInt32
  var _bytesFree: UInt32
}

struct _RawHashNode {
  var storage: ManagedBuffer<_HashNodeHeader, _RawHashNode>
  var count: Int
}

struct _HashNode<Key, Value> {
  typealias Element = (key: Key, value: Value)

  final class Storage: ManagedBuffer<_HashNodeHeader, _RawHashNode> {}

  /// A node in whose first 16 bytes behind its children an object is left.
  static func make(_ children: [Storage], _ items: [Element], left: AnyObject?) -> Storage {
    let used = 16 * children.count + MemoryLayout<Element>.stride * items.count
    let capacity = (used + 16 + 15) / 16 * 16
    let node = Storage.create(minimumCapacity: capacity / 16) { _ in
      _HashNodeHeader(
        itemMap: _Bitmap(_value: 1 << UInt32(items.count) - 1),
        childMap: _Bitmap(_value: (1 << UInt32(children.count) - 1) << 16),
        _byteCapacity: UInt32(capacity), _bytesFree: UInt32(capacity - used))
    }
    node.withUnsafeMutablePointerToElements { elements in
      for (number, child) in children.enumerated() {
        (elements + number).initialize(to: _RawHashNode(storage: child, count: 1))
      }
      let rest = UnsafeMutableRawPointer(elements + children.count)
      let address = left.map { Unmanaged.passRetained($0).toOpaque() }
      rest.storeBytes(of: address, as: UnsafeMutableRawPointer?.self)
      var end = UnsafeMutableRawPointer(elements) + capacity
      for item in items {
        end -= MemoryLayout<Element>.stride
        end.initializeMemory(as: Element.self, to: item)
      }
    }
    return unsafeDowncast(node, to: Storage.self)
  }
}

final class Leaked { var number = 1 }
final class Kept { var number = 1 }
final class Cyclic { var tree: AnyObject? }
struct Entry {
  var number: Int
  var object: AnyObject
}

nonisolated(unsafe) var tree: _HashNode<Int, Entry>.Storage?

@inline(never) func keep() {
  let child = _HashNode<Int, Entry>.make(
    [], [(1, Entry(number: 1, object: Kept()))], left: Leaked())
  let items = [(2, Entry(number: 2, object: Kept())), (3, Entry(number: 3, object: Kept()))]
  tree = _HashNode<Int, Entry>.make([child], items, left: Leaked())
}

@inline(never) func close() {
  let (inChild, inItem, inSet) = (Cyclic(), Cyclic(), Cyclic())
  let child = _HashNode<Int, Entry>.make(
    [], [(0, Entry(number: 0, object: Kept())), (1, Entry(number: 1, object: inChild))],
    left: nil)
  inChild.tree = _HashNode<Int, Entry>.make(
    [child], [(2, Entry(number: 2, object: Kept()))], left: nil)
  inItem.tree = _HashNode<Entry, Int>.make(
    [], [(Entry(number: 0, object: inItem), 1)], left: nil)
  inSet.tree = _HashNode<Entry, Void>.make(
    [], [(Entry(number: 0, object: inSet), ())], left: nil)
}

@inline(never) func clear(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return depth == 0 ? 0 : clear(depth - 1) + Int(memory[7])
  }
}

keep()
close()
print(clear(20))

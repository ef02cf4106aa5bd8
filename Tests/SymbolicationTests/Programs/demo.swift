// A method with labels and a closure inside of it.
final class Store {
  var blocks: [[Int]] = []

  @inline(never)
  func insert(count: Int, _ value: Int) {
    blocks.append((0..<count).map { $0 + value })
  }
}

/// The compiler makes the box of the variable, which its debug information puts into no source.
@inline(never)
func countDown() {
  var next: ((Int) -> Int)?
  next = { $0 == 0 ? 0 : next?($0 - 1) ?? 0 }
  _ = next?(3)
}

countDown()
let store = Store()
store.insert(count: 3, 4)

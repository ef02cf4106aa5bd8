// A method with labels and a closure inside of it.
final class Store {
  var blocks: [[Int]] = []

  @inline(never)
  func insert(count: Int, _ value: Int) {
    blocks.append((0..<count).map { $0 + value })
  }
}

let store = Store()
store.insert(count: 3, 4)

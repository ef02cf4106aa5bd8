// Closures that capture what has a mangled name with words of several letters, with labels that
// look like such words, and with parts that mean again what came before. All alive until the end.
final class Leaf { var number = 1 }
struct Pair<First> { var first: First }
struct Point { var x = 1.0 }
typealias Labelled = (ApplesAndPears: Int, SeaAnemone: Leaf)

nonisolated(unsafe) var kept: [() -> Void] = []

@inline(never) func use<T>(_ value: T) {}

@inline(never) func actor(_ value: (any Actor)?, _ leaf: Leaf) {
  kept.append {
    use(value)
    use(leaf)
  }
}

@inline(never) func task(_ value: Task<Leaf, Never>, _ leaf: Leaf) {
  kept.append {
    use(value)
    use(leaf)
  }
}

@inline(never) func labels(_ value: Labelled, _ leaf: Leaf) {
  kept.append {
    use(value)
    use(leaf)
  }
}

@inline(never) func again(_ value: (Leaf, [Leaf], Leaf?, Leaf), _ leaf: Leaf) {
  kept.append {
    use(value)
    use(leaf)
  }
}

@inline(never) func generic(_ value: (Pair<Leaf>, Pair<Leaf>, Point, Point), _ leaf: Leaf) {
  kept.append {
    use(value)
    use(leaf)
  }
}

@inline(never) func convention(_ value: @escaping @convention(c) (Int32) -> Void, _ leaf: Leaf) {
  kept.append {
    value(1)
    use(leaf)
  }
}

@inline(never) func main() {
  let (leaf, pair) = (Leaf(), Pair(first: Leaf()))
  actor(nil, leaf)
  task(Task { Leaf() }, leaf)
  labels((1, leaf), leaf)
  again((leaf, [leaf], leaf, leaf), leaf)
  generic((pair, pair, Point(), Point()), leaf)
  convention({ _ in }, leaf)
}

main()
print(kept.count)

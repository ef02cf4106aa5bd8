// Objects of Embedded Swift, which has no names of types in memory, in known numbers.
class Shape {
  var number = 1
  func area() -> Int { number }
}
final class Square: Shape {
  override func area() -> Int { number * number }
}
final class Tree<Content> {
  var content: Content
  init(_ content: Content) { self.content = content }
}

nonisolated(unsafe) var shapes: [Shape] = []
nonisolated(unsafe) var trees: [Tree<Int>] = []

@inline(never) func make(_ index: Int) {
  shapes.append(Shape())
  shapes.append(Square())
  trees.append(Tree(index))
  _ = Tree(index).content
}

for index in 0..<10 { make(index) }
print(shapes.count + trees.count)

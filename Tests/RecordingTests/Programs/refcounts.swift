// Objects whose reference counts the tests know; what is done is the first argument.
import Dispatch

final class Parent {
  var child: Child?
}

final class Child {
  var parent: Parent?
  weak var friend: Parent?
  unowned let maker: Parent
  init(maker: Parent) { self.maker = maker }
}

final class Number {
  let value: Int
  init(_ value: Int) { self.value = value }
}

final class Other {
  var value = 1
}

@inline(never) func adopt(_ parent: Parent, _ child: Child) {
  parent.child = child
  child.parent = parent
  child.friend = parent
}

@inline(never) func makeFamily() {
  let parent = Parent()
  let child = Child(maker: parent)
  adopt(parent, child)
}

@inline(never) func makeNumbers() -> [Number] { (0..<4).map { Number($0) } }

@inline(never) func releaseTooOften(_ numbers: [Number]) {
  for number in numbers { Unmanaged.passUnretained(number).release() }
}

@inline(never) func runNumbers() {
  let numbers = makeNumbers()
  releaseTooOften(numbers)
  print(numbers.count)
}

@inline(never) func keep(_ number: Number, in array: inout [Number]) {
  array.append(number)
  array.removeLast()
}

@inline(never) func storm() {
  let shared = Number(7)
  DispatchQueue.concurrentPerform(iterations: 4) { _ in
    var array: [Number] = []
    array.reserveCapacity(4)
    let own = Number(8)
    for _ in 0..<20_000 {
      keep(shared, in: &array)
      keep(own, in: &array)
    }
  }
  print(shared.value)
}

@inline(never) func readWeak(_ child: Child) -> Bool { child.friend != nil }

@inline(never) func weakAndUnowned() {
  let parent = Parent()
  let child = Child(maker: parent)
  child.friend = parent
  for _ in 0..<10 { print(readWeak(child), child.maker === parent) }
}

@inline(never) func useOther() {
  var others: [Other] = []
  let other = Other()
  for _ in 0..<100 { others.append(other) }
  print(others.count)
}

nonisolated(unsafe) var total = 0

@inline(never) func add(_ number: Number) { total += number.value }

@inline(never) func retainByName() {
  let number = Number(9)
  add(number)
  _ = Unmanaged.passUnretained(number).retain()
  add(number)
}

switch CommandLine.arguments.dropFirst().first {
case "cycle":
  for _ in 0..<3 { makeFamily() }
  // Types are read a few allocations later; and what is left on the stack is written over.
  weakAndUnowned()
  useOther()
case "double": runNumbers()
case "storm": storm()
case "name":
  retainByName()
  useOther()
case "weak": weakAndUnowned()
default:
  useOther()
  makeFamily()
}

// Objects that hold themselves, to which references lead that do not hold them, in places whose types do not tell
// that; and others that are held in such places. Compiled with -module-name app.

class Leaked {
  var own: Leaked?
  init() { own = self }
}

final class LeakedByClosure {
  var action: (() -> Void)?
  var number = 0
  init() { action = { [self] in number += 1 } }
}

final class LeakedByAny {
  var other: Any?
  init() { other = self }
}

protocol Delegate: AnyObject {}
final class LeakedByDelegate: Delegate {
  var delegate: (any Delegate)?
  init() { delegate = self }
}

final class LeakedByElement {
  var rows: [AnyObject] = []
  init() { rows = [self] }
}

final class LeakedByValue {
  var byNumber: [Int: LeakedByValue] = [:]
  init() { byNumber[1] = self }
}

final class LeakedByMember: Hashable {
  var members: Set<LeakedByMember> = []
  init() { members.insert(self) }
  static func == (left: LeakedByMember, right: LeakedByMember) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class Cell<Value> {
  var user: LeakedByCell?
}

final class LeakedByCell {
  var cell = Cell<[Int]>()
  init() { cell.user = self }
}

/// Its property is of a generic class of another image.
final class LeakedByBuffer {
  var buffer: ManagedBuffer<LeakedByBuffer?, Int>
  init() {
    buffer = ManagedBuffer.create(minimumCapacity: 1) { _ in nil }
    buffer.header = self
  }
}

protocol Shape {}
struct Rectangle: Shape {
  var x = 1, y = 2, width = 3
  let owner: Leaked
}

/// Its property is too large for an existential container.
final class LeakedByBox: Leaked {
  var shape: (any Shape)?
  override init() {
    super.init()
    own = nil
    shape = Rectangle(owner: self)
  }
}

/// Held by an array, and by its own property.
final class Kept {
  var own: Kept?
  unowned(safe) var owner: Kept?
  init() {
    own = self
    owner = self
  }
}

struct Reference { unowned var object: Leaked }
enum Event { case changed(Reference), closed }
struct Failure: Error { unowned let object: Leaked }
struct Token: ~Copyable {
  unowned let object: Leaked
  deinit { print("gone") }
}
final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}
final class Observer {
  var event = Event.closed
  var any: Any?
  var error: (any Error)?
  let token: Token
  var references: InlineArray<2, Reference>
  init() {
    token = Token(object: Leaked())
    references = [Reference(object: Leaked()), Reference(object: Leaked())]
    event = .changed(Reference(object: Leaked()))
    any = Reference(object: Leaked())
    error = Failure(object: Leaked())
  }
}

nonisolated(unsafe) var observers: [Observer] = []
nonisolated(unsafe) var boxes: [AnyObject] = []
nonisolated(unsafe) var optionals: [Reference?] = []
nonisolated(unsafe) var screens: [Leaked] = []
nonisolated(unsafe) var others: [AnyObject] = []
nonisolated(unsafe) var lists: [[AnyObject]] = []
nonisolated(unsafe) var kept: [Kept] = []
nonisolated(unsafe) var event = Event.closed
nonisolated(unsafe) var failure: (any Error)?

@inline(never) func useUnowned() {
  observers.append(Observer())
  boxes.append(Box(Reference(object: Leaked())))
  boxes.append(Box(Optional(Reference(object: Leaked()))))
  failure = Failure(object: LeakedByBox())
  optionals += [nil, Reference(object: Leaked())]
  event = .changed(Reference(object: Leaked()))
}

@inline(never) func removeLast() {
  for _ in 0..<3 { screens.append(Leaked()) }
  others = [
    LeakedByClosure(), LeakedByAny(), LeakedByDelegate(), LeakedByValue(), LeakedByMember(),
    LeakedByCell().cell, LeakedByBuffer().buffer,
  ]
  screens.removeLast()
  others.removeLast(7)
  lists = [[], LeakedByElement().rows]
  lists.removeLast()
}

/// What the arrays hold has a reference more than it has itself.
@inline(never) func keep() {
  for _ in 0..<3 { kept.append(Kept()) }
}

@inline(never) func clear(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return depth == 0 ? 0 : clear(depth - 1) + Int(memory[7])
  }
}

useUnowned()
removeLast()
keep()
print(
  clear(20), observers.count, boxes.count, optionals.count, screens.count, lists.count, kept.count)
if case .changed = event { print("changed") }

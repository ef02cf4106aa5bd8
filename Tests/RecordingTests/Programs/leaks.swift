// Known leaks of Swift, and objects that look like leaks and are none.
//
//   leaks           runs all cases
//   leaks --list    prints the name of each case and how many blocks it leaks
//
// Each case is a function; its name is on the stack of all blocks that belong to it, or of those
// that hold them. Cases named leak… leak, cases named keep… hold what they allocate until the
// process ends.
import Dispatch

#if canImport(Glibc)
  import Glibc
#endif

class Parent {
  var child: Child?
}

class Child {
  var parent: Parent?
}

final class Node {
  var next: Node?
  var number = 0
}

final class Branch {
  var left: Branch?
  var right: Branch?

  init(depth: Int) {
    guard depth > 1 else { return }
    left = Branch(depth: depth - 1)
    right = Branch(depth: depth - 1)
  }
}

final class Button {
  var title = "press here, a title that takes a block of its own"
  var action: (() -> Void)?
  var count = 0

  func connect() {
    action = { self.count += 1 }
  }

  func connect(adding number: Int) {
    action = { self.count += number }
  }
}

protocol TableDelegate: AnyObject {
  func selected(_ row: Int)
}

final class Table {
  var delegate: (any TableDelegate)?
}

final class Screen: TableDelegate {
  let table = Table()

  init() { table.delegate = self }

  func selected(_ row: Int) {}
}

final class WeakTable {
  weak var delegate: (any TableDelegate)?
}

final class WeakScreen: TableDelegate {
  let table = WeakTable()

  init() { table.delegate = self }

  func selected(_ row: Int) {}
}

final class Folder {
  var files: [File] = []
  var byName: [String: File] = [:]
}

final class File {
  var folder: Folder?
}

final class Cell<Content> {
  var content: Content
  var other: Cell<Content>?

  init(_ content: Content) { self.content = content }
}

class Animal {
  var name: String
  init(name: String) { self.name = name }
}

final class Keeper<Pet: Animal>: Animal {
  var pet: Pet?
}

indirect enum Expression {
  case number(Int)
  case object(Node)
  case sum(Expression, Expression)
}

enum Payload {
  case first(Node)
  case second(Cell<Int>)
  case text(String)
  case none
}

protocol Drawable {
  var owner: Node { get }
}

struct Picture: Drawable {
  var owner: Node
  var size: (Int, Int, Int, Int)
}

final class Canvas {
  var drawing: (any Drawable)?
  var canvas: Canvas?
}

struct Failure: Error {
  var reason: Node
  var text: String
}

final class Observer {
  var task: Task<Void, Never>?
  var steps = 0

  func run() async {
    steps += 1
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    steps += 1
  }
}

final class Holder {
  unowned var owner: Node
  unowned(unsafe) var unsafe: Node
  weak var gone: Node?

  init(_ owner: Node) {
    self.owner = owner
    unsafe = owner
    gone = owner
  }
}

actor Account {
  var history: [String] = ["opened, a text that takes a block of its own"]
  func add(_ text: String) { history.append(text) }
}

/// Nothing of the cases is left in frames that later calls use.
@inline(never) func clearStack() {
  withUnsafeTemporaryAllocation(byteCount: 32768, alignment: 16) { dead in
    dead.initializeMemory(as: UInt8.self, repeating: 0)
  }
}

func wait(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}

/// Has all threads of the pool run something else at once, and queue more.
///
/// One that waits for work still has its last task in its frames, and libdispatch keeps what tasks were
/// queued with for later ones, with their addresses. What a task was about to do when it gave a sign is
/// done then as well.
@inline(never) func occupyPool() {
  let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  let (met, go, done) = (
    DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
  )
  @Sendable func meet() {
    met.signal()
    go.wait()
    for _ in 0..<16 { Task.detached { done.signal() } }
  }
  for _ in 0..<count { Task.detached { meet() } }
  // A pool that may not use all processors has fewer threads.
  for _ in 0..<count { _ = met.wait(timeout: .now() + 10) }
  for _ in 0..<count { go.signal() }
  for _ in 0..<16 * count { done.wait() }
}

let started = DispatchSemaphore(value: 0)

// MARK: Leaks

@inline(never) func leakCycle() {
  let parent = Parent()
  let child = Child()
  parent.child = child
  child.parent = parent
}

@inline(never) func leakRetain() {
  _ = Unmanaged.passRetained(Node())
}

@inline(never) func leakChain() {
  var head = Node()
  for number in 1..<6 {
    let node = Node()
    (node.next, node.number) = (head, number)
    head = node
  }
  _ = Unmanaged.passRetained(head)
}

@inline(never) func leakTree() {
  _ = Unmanaged.passRetained(Branch(depth: 4))
}

@inline(never) func leakSelf() {
  let node = Node()
  node.next = node
}

/// What captures nothing but one object has that object as its context.
@inline(never) func leakClosure() {
  let button = Button()
  button.connect()
}

@inline(never) func leakClosureWithContext() {
  let button = Button()
  button.connect(adding: 7)
}

@inline(never) func leakDelegate() {
  _ = Screen()
}

@inline(never) func leakTwoLevels() {
  let folder = Folder()
  for _ in 0..<3 {
    let file = File()
    file.folder = folder
    folder.files.append(file)
  }
}

@inline(never) func leakDictionary() {
  let folder = Folder()
  let file = File()
  file.folder = folder
  folder.byName["a file"] = file
}

@inline(never) func leakGeneric() {
  let first = Cell("a text that is long enough for a block")
  let second = Cell("short")
  (first.other, second.other) = (second, first)
}

@inline(never) func leakExistential() {
  let canvas = Canvas()
  let node = Node()
  canvas.drawing = Picture(owner: node, size: (1, 2, 3, 4))
  canvas.canvas = canvas
}

@inline(never) func leakEnum() {
  _ = Unmanaged.passRetained(
    Cell(Expression.sum(.object(Node()), .sum(.number(1), .number(2)))))
}

/// One cycle holds another one.
@inline(never) func leakTwoCycles() {
  let outer = Cell<AnyObject?>(nil)
  outer.other = outer
  let parent = Parent()
  let child = Child()
  parent.child = child
  child.parent = parent
  outer.content = parent
}

@inline(never) func leakBuffer() {
  UnsafeMutablePointer<Int>.allocate(capacity: 70).initialize(repeating: 1, count: 70)
}

/// A weak reference does not hold, and its side table goes with the object.
@inline(never) func leakWeaklyHeld() {
  let cell = Cell(0)
  cell.other = cell
  weaklyHeld = cell
}
nonisolated(unsafe) weak var weaklyHeld: Cell<Int>?

/// The task waits for what never comes, and nothing but itself knows of it.
@inline(never) func leakTask() {
  nonisolated(unsafe) let observer = Observer()
  observer.task = Task.detached {
    started.signal()
    await observer.run()
  }
  started.wait()
  // The task has come to its end of the road.
  occupyPool()
}

// MARK: No leaks

nonisolated(unsafe) var kept: [Any] = []
nonisolated(unsafe) weak var weakNode: Node?
nonisolated(unsafe) var weakHolder: WeakScreen?
nonisolated(unsafe) var payloads: [Payload] = []
nonisolated(unsafe) var expression: Expression?
nonisolated(unsafe) var continuation: UnsafeContinuation<Void, Never>?
nonisolated(unsafe) var raw: UnsafeMutableRawPointer?
nonisolated(unsafe) var drawing: (any Drawable)?
nonisolated(unsafe) var failure: (any Error)?
nonisolated(unsafe) var handler: (() -> Int)?
nonisolated(unsafe) var text = ""
nonisolated(unsafe) var part: Substring = ""
nonisolated(unsafe) var slice: ArraySlice<Node> = []

@inline(never) func keepWeak() {
  // The side table stays as long as there are weak references.
  let node = Node()
  weakNode = node
  let screen = WeakScreen()
  weakHolder = screen
}

@inline(never) func keepUnowned() {
  // The memory of the object stays as long as there are unowned references.
  let node = Node()
  kept.append(Holder(node))
}

@inline(never) func keepEnums() {
  expression = .sum(.sum(.object(Node()), .number(1)), .sum(.number(2), .object(Node())))
  payloads = [
    .first(Node()), .second(Cell(1)), .text("a text that takes a block of its own"), .none,
  ]
}

@inline(never) func keepStrings() {
  text = String(repeating: "text", count: 30)
  part = String(repeating: "part ", count: 30).dropFirst(20)
  kept.append(String(repeating: "é", count: 40))
  kept.append((1...30).map { "a text that takes a block of its own \($0)" })
  kept.append(Array("characters, each of which is a string"))
}

@inline(never) func keepCollections() {
  kept.append([1: [Node()], 2: [Node(), Node()]])
  kept.append(Set((0..<40).map { "element of the set number \($0)" }))
  kept.append(
    Dictionary(uniqueKeysWithValues: (0..<40).map { ("the key with number \($0)", Node()) }))
  kept.append(ContiguousArray([Cell("a"), Cell("b")]))
  slice = (0..<20).map { _ in Node() }[10..<12]
  kept.append((0..<10).lazy.map { _ in Node() })
}

@inline(never) func keepExistentials() {
  drawing = Picture(owner: Node(), size: (1, 2, 3, 4))
  kept.append(Picture(owner: Node(), size: (5, 6, 7, 8)))
  failure = Failure(reason: Node(), text: "a text that takes a block of its own")
  kept.append(failure as Any)
}

@inline(never) func keepClosures() {
  var count = 0
  let node = Node()
  handler = {
    count += node.number
    return count
  }
  kept.append({ (number: Int) in [node.number + number] } as (Int) -> [Int])
}

@inline(never) func keepGenerics() {
  let keeper = Keeper<Animal>(name: "a name that takes a block of its own")
  keeper.pet = Animal(name: "another name that takes a block of its own")
  kept.append(keeper)
  kept.append(Cell((Node(), "x")))
  kept.append(Cell<[String: Cell<Int>]>(["a": Cell(1)]))
}

@inline(never) func keepKeyPaths() {
  kept.append(\Node.number)
  kept.append((\Keeper<Animal>.pet).appending(path: \Animal?.!.name))
}

@inline(never) func keepUnmanaged() {
  raw = Unmanaged.passRetained(Node()).toOpaque()
}

@inline(never) func keepManagedBuffer() {
  kept.append(
    ManagedBuffer<Int, Node>.create(minimumCapacity: 4) { buffer in
      buffer.withUnsafeMutablePointerToElements { $0.initialize(to: Node()) }
      return 1
    })
}

@inline(never) func keepActor() {
  let account = Account()
  kept.append(account)
  wait { await account.add(String(repeating: "z", count: 50)) }
}

@inline(never) func keepTask() {
  Task.detached {
    let cell = Cell(String(repeating: "w", count: 50))
    await withUnsafeContinuation {
      continuation = $0
      started.signal()
    }
    print(cell.content)
  }
  started.wait()
}

@inline(never) func keepStream() {
  let (stream, source) = AsyncStream.makeStream(of: Cell<Int>.self)
  source.yield(Cell(1))
  kept.append(stream)
  kept.append(source)
}

@inline(never) func keepTimer() {
  let cell = Cell(2)
  let timer = DispatchSource.makeTimerSource()
  timer.schedule(deadline: .now() + 3600)
  timer.setEventHandler { cell.content += 1 }
  timer.resume()
  kept.append(timer)
}

/// Parked for good with objects on its stack only.
@inline(never) func keepThread() {
  nonisolated(unsafe) var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      keepOnStack()
      return nil
    }, nil)
  parked.wait()
}
let parked = DispatchSemaphore(value: 0)

@inline(never) func keepOnStack() {
  let node = Node()
  let names = ["a name that takes a block of its own", "b"].map { $0 + "c" }
  withExtendedLifetime((node, names)) {
    parked.signal()
    while true { pause() }
  }
}

// MARK: The list

let cases: [(name: String, run: () -> Void, leaked: Int)] = [
  ("leakCycle", leakCycle, 2),
  ("leakRetain", leakRetain, 1),
  ("leakChain", leakChain, 6),
  ("leakTree", leakTree, 15),
  ("leakSelf", leakSelf, 1),
  ("leakClosure", leakClosure, 1),
  ("leakClosureWithContext", leakClosureWithContext, 2),
  ("leakDelegate", leakDelegate, 2),
  ("leakTwoLevels", leakTwoLevels, 5),
  ("leakDictionary", leakDictionary, 3),
  ("leakGeneric", leakGeneric, 2),
  ("leakExistential", leakExistential, 3),
  ("leakEnum", leakEnum, 7),
  ("leakTwoCycles", leakTwoCycles, 3),
  ("leakBuffer", leakBuffer, 1),
  ("leakWeaklyHeld", leakWeaklyHeld, 1),
  ("leakTask", leakTask, 5),
  ("keepWeak", keepWeak, 0),
  ("keepUnowned", keepUnowned, 0),
  ("keepEnums", keepEnums, 0),
  ("keepStrings", keepStrings, 0),
  ("keepCollections", keepCollections, 0),
  ("keepExistentials", keepExistentials, 0),
  ("keepClosures", keepClosures, 0),
  ("keepGenerics", keepGenerics, 0),
  ("keepKeyPaths", keepKeyPaths, 0),
  ("keepUnmanaged", keepUnmanaged, 0),
  ("keepManagedBuffer", keepManagedBuffer, 0),
  ("keepActor", keepActor, 0),
  ("keepTask", keepTask, 0),
  ("keepStream", keepStream, 0),
  ("keepTimer", keepTimer, 0),
  ("keepThread", keepThread, 0),
]

let isList = CommandLine.arguments.dropFirst().first == "--list"
for entry in cases {
  if isList {
    print(entry.name, entry.leaked)
  } else {
    entry.run()
    clearStack()
  }
}

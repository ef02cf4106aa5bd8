// References that do not hold their objects, and what looks like them.
//
//   dangling         objects that are gone, which unowned(unsafe), Unmanaged and pointers name still
//   dangling none    weak and unowned references, what containers leave behind, and what only identifies objects

import Dispatch

final class Target {
  var numbers = (1, 2, 3, 4, 5)
}

final class Holder {
  unowned(unsafe) var unsafeTarget: Target?
  var unmanaged: Unmanaged<Target>?
  weak var weakTarget: Target?
  unowned var unownedTarget: Target?
}

private struct Cursor {
  var target: ObjectIdentifier?
  var next: UnsafeMutablePointer<Int>?
}

private enum Shared {
  nonisolated(unsafe) static var cursor = Cursor()
  nonisolated(unsafe) static var previous: Cursor?
}

nonisolated(unsafe) private var last: (Int, ObjectIdentifier)?

let holders = [Holder(), Holder(), Holder()]
nonisolated(unsafe) var buffer: UnsafeMutablePointer<Int>?
nonisolated(unsafe) var kept: [Target] = []
nonisolated(unsafe) var table: [String: Target] = [:]

@inline(never) func dropUnsafe() {
  let target = Target()
  holders[0].unsafeTarget = target
}

@inline(never) func dropUnmanaged() {
  let target = Unmanaged.passRetained(Target())
  holders[1].unmanaged = target
  target.release()
}

@inline(never) func dropBuffer() {
  let memory = UnsafeMutablePointer<Int>.allocate(capacity: 123)
  memory.initialize(repeating: 0, count: 123)
  buffer = memory
  memory.deallocate()
}

@inline(never) func dropNext() {
  let memory = UnsafeMutablePointer<Int>.allocate(capacity: 145)
  memory.initialize(repeating: 0, count: 145)
  Shared.cursor.next = memory
  memory.deallocate()
}

@inline(never) func keepNone() {
  let target = Target()
  holders[0].weakTarget = target
  let other = Target()
  holders[1].unownedTarget = other
  for number in 0..<100 {
    kept.append(Target())
    table["a key that is long enough for a block \(number)"] = Target()
  }
  for number in 0..<50 {
    _ = kept.popLast()
    table["a key that is long enough for a block \(number)"] = nil
  }
}

struct Subscription: Hashable {
  var number: Int
  var target: ObjectIdentifier
}

final class Registry {
  var last: ObjectIdentifier?
  var first = Subscription(number: 0, target: ObjectIdentifier(Registry.self))
  var seen: Set<ObjectIdentifier> = []
  var names: [ObjectIdentifier: Int] = [:]
  var subscriptions: [Subscription: Int] = [:]
  var isLast: () -> Bool = { false }
}

/// What a slice counts its elements from may lie in a block that is gone.
final class Parser {
  var rest: ArraySlice<Int> = []
  var peeked: ArraySlice<Int>?
  var next: () -> Int? = { nil }
}

let parser = Parser()
nonisolated(unsafe) var slice: ArraySlice<Int> = []

/// A slice with storage of its own, whose element 0 would lie where blocks are freed.
@inline(never) func slicedBehindFreedBlocks() -> ArraySlice<Int> {
  let numbers = Array(0..<1200)
  let before = (0..<16).map { _ in UnsafeMutablePointer<Int>.allocate(capacity: 300) }
  var slice = numbers[600...]
  withExtendedLifetime(numbers) { slice.append(1) }
  let start = slice.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  let first = start - UInt(8 * slice.startIndex)
  precondition(before.contains { 0..<2400 ~= first &- UInt(bitPattern: $0) }, "no block is there")
  for block in before { block.deallocate() }
  return slice
}

let registry = Registry()
let queue = DispatchQueue(label: "queue")

/// What is freed here is not used again: the last that a program does.
@inline(never) func identify() {
  parser.rest = slicedBehindFreedBlocks()
  parser.peeked = parser.rest
  slice = parser.rest
  parser.next = { [rest = slice, count = slice.count] in rest.first ?? count }
  let targets = (0..<9).map { _ in Target() }
  let identifiers = targets.map { ObjectIdentifier($0) }
  registry.last = identifiers[0]
  registry.first.target = identifiers[1]
  registry.seen = [identifiers[2]]
  registry.names[identifiers[3]] = 1
  registry.subscriptions[Subscription(number: 1, target: identifiers[4])] = 1
  let captured = identifiers[5]
  registry.isLast = { [captured] in registry.last == captured }
  last = (1, identifiers[6])
  Shared.cursor.target = identifiers[7]
  Shared.previous = Cursor(target: identifiers[8])
  queue.setSpecific(key: DispatchSpecificKey<Int>(), value: 1)
}

if CommandLine.arguments.dropFirst().first == "none" {
  keepNone()
  identify()
} else {
  dropUnsafe()
  dropUnmanaged()
  dropBuffer()
  dropNext()
}

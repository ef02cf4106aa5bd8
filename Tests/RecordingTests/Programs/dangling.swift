// References that do not hold their objects, and what looks like them.
//
//   dangling         objects that are gone, which unowned(unsafe), Unmanaged and pointers name still
//   dangling none    weak and unowned references, and what containers leave behind

final class Target {
  var numbers = (1, 2, 3, 4, 5)
}

final class Holder {
  unowned(unsafe) var unsafeTarget: Target?
  var unmanaged: Unmanaged<Target>?
  weak var weakTarget: Target?
  unowned var unownedTarget: Target?
}

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

if CommandLine.arguments.dropFirst().first == "none" {
  keepNone()
} else {
  dropUnsafe()
  dropUnmanaged()
  dropBuffer()
}

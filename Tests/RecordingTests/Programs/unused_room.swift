#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

// Texts and arrays with room for more, in which pointers are that were there before.
final class BehindText {
  var number = 1
  var other = 2
}
final class BehindNumbers {
  var number = 1
  var other = 2
}

final class WithinNumbers {
  var number = 1
  var other = 2
}

final class BehindObjects {
  var number = 1
  var other = 2
}

nonisolated(unsafe) var text = ""
nonisolated(unsafe) var bytes: [UInt8] = []
nonisolated(unsafe) var numbers: [Int32] = []
nonisolated(unsafe) var stored: [UInt8] = []
nonisolated(unsafe) var texts: [String] = []
nonisolated(unsafe) var objects: [AnyObject] = []

@inline(never) func leak(_ object: AnyObject) -> UInt {
  ~UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
}

/// Leaves pointers to an object in memory that the next objects of these sizes get.
@_optimize(none) func fill(_ sizes: [Int], with hidden: UInt) {
  let blocks = sizes.map { size in
    guard let block = malloc(size)?.assumingMemoryBound(to: UInt.self) else { fatalError() }
    for word in 0..<size / 8 { block[word] = ~hidden }
    return block
  }
  for block in blocks { free(block) }
}

@inline(never) func makeText(_ hidden: UInt) {
  fill([232, 248, 264, 280], with: hidden)
  text.reserveCapacity(220)
  text.append("a text that is longer than fifteen bytes")
}

@inline(never) func makeBytes(_ hidden: UInt) {
  fill([232, 248, 264, 280], with: hidden)
  bytes.reserveCapacity(220)
  bytes.append(contentsOf: [1, 2, 3])
}

@inline(never) func makeNumbers(_ hidden: UInt) {
  fill([232, 248, 264, 280], with: hidden)
  numbers.reserveCapacity(55)
  numbers.append(contentsOf: [1, 2, 3])
}

@inline(never) func makeTexts(_ hidden: UInt) {
  fill([232, 248, 264, 280], with: hidden)
  texts.reserveCapacity(13)
  texts.append("one")
}

@inline(never) func makeObjects(_ hidden: UInt) {
  fill([232, 248, 264, 280], with: hidden)
  objects.reserveCapacity(27)
  objects.append(kept)
}

/// Puts an address into the elements, byte by byte.
@inline(never) func storeBytes(_ hidden: UInt) -> [UInt8] {
  let address = ~hidden
  return withUnsafeBytes(of: address) { Array($0) }
}

let kept = BehindText()

// What the runtime allocates at the first time is to get none of that memory.
for _ in 0..<2 {
  makeText(~0)
  makeBytes(~0)
  makeNumbers(~0)
  makeTexts(~0)
  makeObjects(~0)
  (text, bytes, numbers, texts, objects) = ("", [], [], [], [])
}
makeText(leak(BehindText()))
makeBytes(leak(BehindNumbers()))
makeNumbers(leak(BehindNumbers()))
// Into the middle, where no object begins.
makeTexts(leak(BehindObjects()) - 16)
makeObjects(leak(BehindObjects()) - 16)
stored = storeBytes(leak(WithinNumbers()))
withExtendedLifetime((text, bytes, numbers, texts, objects, stored)) {}

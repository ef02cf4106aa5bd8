// A pointer into an array that is kept beyond the call that gave it, and written to.
nonisolated(unsafe) var escaped: UnsafeMutablePointer<Int>?

@inline(never) func readAll() -> Int {
  var numbers = [1, 2, 3]
  numbers.append(CommandLine.argc == 1 ? 4 : 5)
  numbers.withUnsafeMutableBufferPointer { escaped = $0.baseAddress }
  return numbers.count
}

@inline(never) func writeLater() { escaped?[1] = 77 }

print(readAll())
writeLater()

import Dispatch

@inline(never) func keep(_ value: Int) {
  let item = DispatchWorkItem { print(value) }
  _ = Unmanaged.passRetained(item)
}

let queue = DispatchQueue(label: "closures")
queue.suspend()
for value in 0..<10 {
  keep(value)
  queue.async { print(value) }
}

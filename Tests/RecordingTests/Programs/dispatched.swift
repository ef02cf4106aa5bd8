// Objects of libdispatch of each kind, all alive until the end.
import Dispatch

nonisolated(unsafe) var kept: [AnyObject] = []

@inline(never) func keep(_ object: AnyObject) { kept.append(object) }

@inline(never) func main() {
  for _ in 0..<3 { keep(DispatchQueue(label: "serial")) }
  for _ in 0..<4 { keep(DispatchQueue(label: "concurrent", attributes: .concurrent)) }
  for _ in 0..<5 { keep(DispatchGroup()) }
  for _ in 0..<6 { keep(DispatchSemaphore(value: 0)) }
  for _ in 0..<7 { keep(DispatchSource.makeTimerSource() as AnyObject) }
  let bytes: [UInt8] = Array(repeating: 1, count: 100)
  for _ in 0..<8 {
    keep(bytes.withUnsafeBytes { DispatchData(bytes: $0) } as AnyObject)
  }
  let queue = DispatchQueue(label: "suspended")
  queue.suspend()
  keep(queue)
  for _ in 0..<90 { queue.async {} }
}

main()
print(kept.count)

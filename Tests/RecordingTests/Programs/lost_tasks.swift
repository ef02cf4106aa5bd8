// Tasks that wait for what never comes, and objects that hold them and are held by them. What knows
// them is the pool of libdispatch whose threads they ran on, and the slabs of other tasks.
import Dispatch

let waits = DispatchSemaphore(value: 0)

@inline(never) func waitForever() async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in _ = waits.signal() }
}

final class Poller: @unchecked Sendable {
  var task: Task<Void, Never>?
  var count = 0

  func start() {
    task = Task.detached {
      await waitForever()
      self.count += 1
    }
  }
}

for _ in 0..<4 {
  Poller().start()
  waits.wait()
}

// Tasks that are kept although they have ended, and one that waits: what their functions have used is gone, and no
// pointer to it means anything any more.

final class Target: Sendable {
  let numbers = [1, 2, 3]
}

nonisolated(unsafe) var tasks: [Task<Int, Never>] = []
nonisolated(unsafe) var waiting: UnsafeContinuation<Void, Never>?
nonisolated(unsafe) var waiter: Task<Void, Never>?

@inline(never) func count(_ target: Target) async -> Int {
  await Task.yield()
  let other = Target()
  await Task.yield()
  return target.numbers.count + other.numbers.count
}

@inline(never) func wait() async {
  var targets: [Target] = []
  for _ in 0..<10 {
    targets.append(Target())
    await Task.yield()
  }
  targets = []
  await withUnsafeContinuation { waiting = $0 }
}

@main struct App {
  static func main() async {
    for _ in 0..<20 {
      let target = Target()
      tasks.append(Task { await count(target) })
    }
    waiter = Task { await wait() }
    for task in tasks { _ = await task.value }
    while waiting == nil { await Task.yield() }
  }
}

// A task that waits for two of `async let`, which wait for what never comes. All on one thread, so that
// both do when they have said so.
import Foundation

@MainActor var waiting = 0

@MainActor @inline(never) func waitForever(_ number: Int) async -> Int {
  await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in waiting += 1 }
}

@MainActor @inline(never) func waitForBoth() async -> Int {
  async let first = waitForever(1)
  async let second = waitForever(2)
  return await first + second
}

@main struct AsyncLets {
  @MainActor static func main() async {
    let task = Task { @MainActor in await waitForBoth() }
    while waiting < 2 { await Task.yield() }
    withExtendedLifetime(task) { exit(0) }
  }
}

// Three tasks: one that runs as the process ends, one that is done, and one that waits for what never
// comes. All on one thread, so that each of them is where it is said to be.
import Foundation

@inline(never) func waitForever() async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  print("never")
}

@main struct SuspendedTasks {
  @MainActor static func main() async {
    let waiting = Task { @MainActor in await waitForever() }
    let done = Task { @MainActor in 7 }
    _ = await done.value
    await Task.yield()
    withExtendedLifetime((waiting, done)) { exit(0) }
  }
}

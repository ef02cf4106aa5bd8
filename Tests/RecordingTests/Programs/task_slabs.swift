// Cycles that only frames of async functions held, in the slabs of a task, and one that a function
// which still runs holds. That function has left another one in its frame.
//
// The process ends in the middle of the task, so that its slabs are still there.

import Foundation

final class Page {
  var next: Page?
  init() { next = self }
}

final class HeldPage {
  var next: HeldPage?
  init() { next = self }
}

final class LeftPage {
  var next: LeftPage?
  init() { next = self }
}

@inline(never) func use(_ page: AnyObject) { withExtendedLifetime(page) {} }

/// Leaks one page in each of so many frames, together larger than a slab.
@inline(never) func leakPages(_ count: Int) async {
  let page = Page()
  await Task.yield()
  if count > 1 { await leakPages(count - 1) }
  use(page)
}

@inline(never) func leave(_ page: HeldPage) async {
  await Task.yield()
  print("done")
  exit(0)
}

@main struct TaskSlabs {
  static func main() async {
    await leakPages(20)
    do {
      let page = LeftPage()
      await Task.yield()
      use(page)
    }
    let page = HeldPage()
    await leave(page)
    use(page)
  }
}

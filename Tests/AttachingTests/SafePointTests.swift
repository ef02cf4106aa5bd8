import Testing

@testable import Attaching

/// Where a thread may be given something else to do.
@Suite struct SafePointTests {
  private static let library = "/lib/x86_64-linux-gnu/libc.so.6"
  private static let loader = "/lib64/ld-linux-x86-64.so.2"
  private static let program = "/usr/bin/server"

  /// A stack as `image!function` from the inside outwards; `*` is an interrupted frame.
  private func obstacle(
    _ frames: String..., isComplete: Bool = true
  ) -> SafePoint.Obstacle? {
    let images = ["c": Self.library, "ld": Self.loader, "p": Self.program, "?": ""]
    let stack = frames.enumerated().map { index, text in
      let parts = text.split(separator: "!", omittingEmptySubsequences: false).map(String.init)
      return ThreadStack.Frame(
        image: images[parts[0].replacing("*", with: "")] ?? "/lib/\(parts[0])",
        function: parts.count > 1 ? parts[1] : "",
        isInterrupted: index == 0 || parts[0].hasPrefix("*"))
    }
    return SafePoint.obstacle(in: ThreadStack(frames: stack, isComplete: isComplete))
  }

  @Test func codeOfTheProgramIsSafe() {
    #expect(obstacle("p!work", "p!main", "c", "c!__libc_start_main", "p!_start") == nil)
    #expect(obstacle("p!compare", "c", "c!qsort_r", "p!main", "c", "p!_start") == nil)
    #expect(obstacle("libstdc++.so.6", "p!main", "c!__libc_start_main", "p!_start") == nil)
  }

  @Test(arguments: [
    "poll", "__poll", "epoll_wait", "read", "__libc_read", "clock_nanosleep", "wait4", "select",
    "pthread_cond_wait", "___pthread_cond_wait", "pthread_join", "accept4", "sem_wait",
    "__GI___poll", "__read_nocancel", "__clock_nanosleep_time64",
  ])
  func waitingIsSafe(function: String) {
    #expect(obstacle("c!\(function)", "p!loop", "p!main", "c", "p!_start") == nil)
    // The innermost one may have no name.
    #expect(obstacle("c", "c!\(function)", "p!loop", "c", "c!clone") == nil)
    // Or be one that a larger function waits in.
    #expect(obstacle("c!\(function)", "c!system", "p!main", "c", "p!_start") == nil)
    #expect(
      obstacle("c", "c", "c", "c!\(function)", "c", "c!system", "p!main", "c", "p!_start") == nil)
  }

  @Test(arguments: [
    "malloc", "__libc_malloc", "free", "cfree", "posix_memalign", "_Znwm", "_ZdlPvm",
  ])
  func theAllocatorIsNot(function: String) {
    #expect(obstacle("c", "c!\(function)", "p!main", "c", "p!_start") == .allocator)
    #expect(obstacle("p!\(function)", "p!main", "c", "p!_start") == .allocator)
    // Memory of the kernel is waited for.
    #expect(obstacle("c!read", "c", "c!\(function)", "p!main", "c", "p!_start") == .allocator)
    #expect(obstacle("p!reclaim", "p!\(function)", "p!main", "c", "p!_start") == .allocator)
  }

  @Test func theLoaderIsNot() {
    #expect(obstacle("ld", "c", "c!dlopen", "p!main", "c", "p!_start") == .loader)
    #expect(obstacle("p!construct", "ld!_dl_init", "ld", "p!main", "c", "p!_start") == .loader)
    #expect(obstacle("p!see", "c!dl_iterate_phdr", "p!main", "c", "p!_start") == .loader)
  }

  @Test func otherFunctionsOfTheLibraryAreNot() {
    #expect(obstacle("c!strlen", "p!main", "c", "p!_start") == .library)
    #expect(obstacle("c", "c!pthread_create", "p!main", "c", "p!_start") == .library)
    #expect(obstacle("c", "p!main", "c", "p!_start") == .library)
  }

  @Test func handlersOfSignalsAreNot() {
    #expect(obstacle("p!handler", "c", "*p!work", "p!main", "p!_start") == .signalHandler)
  }

  @Test func stacksThatCannotBeFollowedAreNot() {
    #expect(obstacle("p!work", "p!main", isComplete: false) == .unknownStack)
    #expect(obstacle("p!work", "?") == .unknownStack)
    #expect(obstacle() == .unknownStack)
  }

  @Test func namesAreReducedToWhatProgramsCall() {
    #expect(SafePoint.plainName("__GI___libc_read") == "read")
    #expect(SafePoint.plainName("__libc_malloc") == "malloc")
    #expect(SafePoint.plainName("__new_sem_wait") == "sem_wait")
    #expect(SafePoint.plainName("poll") == "poll")
    #expect(SafePoint.plainName("") == "")
  }
}

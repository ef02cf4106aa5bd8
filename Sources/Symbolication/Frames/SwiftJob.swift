/// What of a stack belongs to a job of Swift's concurrency, a part of an async function.
///
/// Callers of an async function are not on the stack once it has waited: there are the functions that run jobs, of
/// libdispatch, of an event loop or of `main`. None of these has asked for what the job allocates.
struct SwiftJob {
  /// The outermost function of Swift's own libraries so far, as `withCheckedContinuation`.
  private var function: SymbolicatedFrame?

  /// Looks at the next frame.
  ///
  /// - Returns: Whether it is the one that runs the job.
  mutating func isRun(by frame: SymbolicatedFrame) -> Bool {
    guard frame.role == .runtime, let name = frame.function else { return false }
    if Self.runners.contains(name.base) { return true }
    if name.language == .swift, !name.base.hasPrefix("reabstraction thunk") { function = frame }
    return false
  }

  /// Who answers for what the job allocates, where no function of the program is in it.
  ///
  /// - Parameter system: The first function of the system in it.
  /// - Returns: `nil` where only the runtime is in it, which allocates for the job itself: who runs that has not
  ///   asked for it either.
  func answering(_ system: SymbolicatedFrame?) -> SymbolicatedFrame? { system ?? function }

  private static let runners: Set<String> = [
    "swift_job_run", "swift_job_runImpl", "swift::runJobInEstablishedExecutorContext",
  ]
}

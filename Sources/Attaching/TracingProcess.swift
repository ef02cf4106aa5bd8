import CAttach

/// Runs something in a process of its own, which ptrace takes for the tracer.
///
/// It shares the memory of this one, which waits for it; but where this one is killed, it goes on to
/// the end: what it has changed in the process that it traces, it puts back.
enum TracingProcess {
  private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Waits until the process has ended.
  ///
  /// - Parameter body: What it does.
  /// - Throws: ``AttachError`` when there can be no such process, or somebody has ended it.
  static func run(_ body: @escaping () -> Void) throws(AttachError) {
    let work = Work(body)
    let error = withExtendedLifetime(work) {
      cattach_run_apart(
        { context in
          guard let context else { return }
          Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body()
        }, Unmanaged.passUnretained(work).toOpaque())
    }
    guard error == 0 else { throw AttachError(errorNumber: error) }
  }
}

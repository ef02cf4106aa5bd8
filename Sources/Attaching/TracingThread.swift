#if canImport(Glibc)
  import Glibc
#endif

/// Runs something in a thread of its own, which ptrace takes for the tracer.
enum TracingThread {
  private final class Work<Result> {
    let body: () -> Result
    var result: Result?

    init(_ body: @escaping () -> Result) { self.body = body }

    func run() { result = body() }
  }

  /// Waits until the thread has ended.
  ///
  /// - Returns: What `body` does. Where no thread can be started, it runs in this one.
  static func result<Result>(_ body: @escaping () -> Result) -> Result {
    let work = Work(body)
    let start: () -> Void = { work.run() }
    let box = Unmanaged.passRetained(Start(start))
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    if error == 0 {
      pthread_join(thread, nil)
    } else {
      box.release()
    }
    return work.result ?? body()
  }

  private final class Start {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
  }
}

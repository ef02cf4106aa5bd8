import CAttach
import CTraceFormat

#if canImport(Glibc)
  import Glibc
#endif

/// Brings the recorder into a process that is running, and lets it begin.
///
/// One thread of the process is stopped at a safe point, opens the recorder on a stack of its own,
/// and goes on where it was; the others run all the time.
public struct RecorderInjection {
  private let process: RemoteProcess
  private let library: RemoteLibrary
  /// The recorder's options: `NAME=value` each.
  private let options: [[UInt8]]
  private let isConfined: Bool

  /// How long a safe point is waited for.
  private static let patience = Duration.seconds(10)
  /// How long for one that does not write.
  private static let writingPatience = Duration.seconds(1)
  /// How long the loader of the process is waited for.
  private static let loadingPatience = Duration.milliseconds(500)
  private static let stackSize: UInt64 = 1 << 20
  private static let scratchSize: UInt64 = 1 << 16
  private static let messageSize: UInt64 = 4096

  /// - Parameters:
  ///   - pid: The process.
  ///   - library: The absolute path of the recorder.
  ///   - options: The recorder's options: `NAME=value` each.
  ///   - isConfined: Whether the process has seccomp filters, the same ones for all threads: they
  ///     are looked at first.
  public init(pid: pid_t, library: String, options: [[UInt8]], isConfined: Bool) {
    process = RemoteProcess(pid: pid)
    self.library = RemoteLibrary(path: library)
    self.options = options
    self.isConfined = isConfined
  }

  /// Brings it in.
  ///
  /// A process of its own does it, which goes on where this one is killed: a thread that is left on
  /// its way would end the process. When it ends, the kernel lets go of all that it had stopped.
  ///
  /// - Throws: ``AttachError``: then the process goes on as before.
  public func run() throws(AttachError) {
    var failure: AttachError?
    try TracingProcess.run {
      do throws(AttachError) { try inject() } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func inject() throws(AttachError) {
    let images = try imagesWithLoader()
    let thread = try stopSafely(images)
    defer { thread.letGo() }
    if isConfined { try thread.checkFilters() }
    // Meanwhile it may have executed another program.
    let functions = try LoaderFunctions(of: process, images: images)
    try thread.withCalls(instruction: functions.systemCall) { calls throws(AttachError) in
      try begin(calls, functions)
    }
  }

  /// The images of the process, once the loader that is to be called is among them: one that has
  /// just been executed has none yet.
  private func imagesWithLoader() throws(AttachError) -> RemoteImages {
    let deadline = ContinuousClock.now + Self.loadingPatience
    while true {
      do throws(AttachError) {
        let images = try RemoteImages(pid: process.pid)
        _ = try LoaderFunctions(of: process, images: images)
        return images
      } catch {
        guard [.noLoader, .failed(EFAULT)].contains(error), ContinuousClock.now < deadline else {
          throw error
        }
        usleep(10_000)
      }
    }
  }

  // MARK: The thread

  /// Stops a thread at a safe point.
  private func stopSafely(_ images: RemoteImages) throws(AttachError) -> StoppedThread {
    let start = ContinuousClock.now
    let deadline = start + Self.patience
    var obstacle = SafePoint.Obstacle.unknownStack
    var late: Set<pid_t> = []
    repeat {
      late = late.filter { !StoppedThread.letGoLate(pid: process.pid, tid: $0) }
      for tid in process.threads where !late.contains(tid) {
        if StoppedThread.isUnstoppable(pid: process.pid, tid: tid) { continue }
        if StoppedThread.isWriting(pid: process.pid, tid: tid),
          ContinuousClock.now < start + Self.writingPatience
        {
          continue
        }
        let thread: StoppedThread
        do {
          thread = try StoppedThread(pid: process.pid, tid: tid)
        } catch .ended {
          continue
        } catch .failed(EAGAIN) {
          late.insert(tid)
          continue
        }
        guard let found = SafePoint.obstacle(in: images.stack(of: tid)) else { return thread }
        obstacle = found
        thread.letGo()
        // It may be in one that was opened since.
        if obstacle == .unknownStack { images.refresh() }
      }
      guard !process.threads.isEmpty else { throw .ended }
      usleep(2000)
    } while ContinuousClock.now < deadline
    throw .noSafePoint(obstacle.rawValue)
  }

  // MARK: What it does

  private func begin(_ calls: RemoteCalls, _ functions: LoaderFunctions) throws(AttachError) {
    let size = Self.stackSize + Self.scratchSize
    let memory = try calls.systemCall(
      cattach_number_mmap,
      [
        0, size, UInt64(PROT_READ | PROT_WRITE), UInt64(MAP_PRIVATE | MAP_ANONYMOUS),
        UInt64(bitPattern: -1), 0,
      ])
    var failure: AttachError?
    do {
      try begin(calls, functions, stack: memory + Self.stackSize)
    } catch {
      failure = error
    }
    _ = try? calls.systemCall(cattach_number_munmap, [memory, size])
    if let failure { throw failure }
  }

  /// Opens the recorder and lets it begin.
  ///
  /// - Parameters:
  ///   - calls: The thread that does it.
  ///   - functions: What it is to call.
  ///   - stack: The highest address of the stack, behind which is room for texts.
  /// - Throws: ``AttachError`` when it does not begin.
  private func begin(
    _ calls: RemoteCalls, _ functions: LoaderFunctions, stack: UInt64
  ) throws(AttachError) {
    var scratch = Scratch(process: process, start: stack, size: Self.scratchSize)
    let errorNumber = try calls.call(functions.errorNumber, stack: stack)
    let saved = try process.read(errorNumber, count: 4)
    defer { try? process.write(saved, at: errorNumber) }

    let loader = RemoteLoader(process: process, calls: calls, functions: functions, stack: stack)
    let handle = try library.open(by: loader, scratch: &scratch)
    let name = try scratch.add(Array(MT_ATTACH_FUNCTION.utf8) + [0])
    let attach = try calls.call(functions.find, [handle, name], stack: stack)
    guard attach != 0 else { throw .refused("\(library.path) is of another version") }
    let arguments = try scratch.add(options)
    let message = try scratch.add([UInt8](repeating: 0, count: Int(Self.messageSize)))
    let result = try calls.call(attach, [arguments, message, Self.messageSize], stack: stack)
    switch UInt32(truncatingIfNeeded: result) {
    case MT_ATTACHED.rawValue: return
    case MT_ATTACH_RECORDED_ALREADY.rawValue: throw .recordedAlready
    default: throw .notRecording(process.text(at: message, limit: Int(Self.messageSize)))
    }
  }
}

import CProcessor

#if canImport(Glibc)
  import Glibc
#endif

/// Decodes batches of events on a second processor before the merge comes to need them.
///
/// A reader belongs to the merge until ``request(_:)`` and again from ``finish(_:)`` on. What has
/// not been begun when the merge needs it, the merge does itself: neither waits for long.
final class ReadAhead: @unchecked Sendable {
  /// What becomes of a reader.
  enum Stage {
    /// It belongs to the merge.
    case idle
    case requested
    case decoding
    /// Its next batch is there.
    case decoded
  }

  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasRequest = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let hasDecoded = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var thread = pthread_t()
  /// Guarded by the lock, as is all below; those that are no longer `requested` are passed over.
  private var requests: [ChunkReader] = []
  private var firstRequest = 0
  private var isStopping = false
  private var awaited: ChunkReader?

  private static let stackSize = 1 << 20
  /// How many readers whose turn has passed are kept at most.
  private static let greatestLag = 64

  /// - Returns: nil when there is only one processor to run on, or no thread to be had.
  init?() {
    pthread_mutex_init(lock, nil)
    pthread_cond_init(hasRequest, nil)
    pthread_cond_init(hasDecoded, nil)
    guard cprocessor_count() > 1, start() else { return nil }
  }

  deinit {
    pthread_cond_destroy(hasDecoded)
    pthread_cond_destroy(hasRequest)
    pthread_mutex_destroy(lock)
    hasDecoded.deallocate()
    hasRequest.deallocate()
    lock.deallocate()
  }

  private func start() -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, Self.stackSize)
    // The thread holds no reference: ``stop()`` ends it before the last one goes.
    let this = Unmanaged.passUnretained(self).toOpaque()
    return pthread_create(
      &thread, &attributes,
      { this in
        guard let this else { return nil }
        Unmanaged<ReadAhead>.fromOpaque(this).takeUnretainedValue().work()
        return nil
      }, this) == 0
  }

  /// Ends the thread; to be called once, by the owner.
  func stop() {
    pthread_mutex_lock(lock)
    isStopping = true
    pthread_cond_signal(hasRequest)
    pthread_mutex_unlock(lock)
    pthread_join(thread, nil)
  }

  // MARK: The merge

  /// Lets the next batch of a reader be decoded.
  func request(_ reader: ChunkReader) {
    pthread_mutex_lock(lock)
    reader.stage = .requested
    requests.append(reader)
    pthread_cond_signal(hasRequest)
    pthread_mutex_unlock(lock)
  }

  /// Waits until the next batch of a reader is there, or decodes it.
  func finish(_ reader: ChunkReader) {
    pthread_mutex_lock(lock)
    while reader.stage == .decoding {
      awaited = reader
      pthread_cond_wait(hasDecoded, lock)
    }
    awaited = nil
    let isDecoded = reader.stage == .decoded
    reader.stage = .idle
    pthread_mutex_unlock(lock)
    if !isDecoded { reader.decode() }
  }

  // MARK: The other thread

  private func work() {
    pthread_mutex_lock(lock)
    while let reader = nextRequest() {
      reader.stage = .decoding
      pthread_mutex_unlock(lock)
      reader.decode()
      pthread_mutex_lock(lock)
      reader.stage = .decoded
      if awaited === reader { pthread_cond_signal(hasDecoded) }
    }
    pthread_mutex_unlock(lock)
  }

  /// Waits for a request; nil when it is time to end.
  private func nextRequest() -> ChunkReader? {
    while !isStopping {
      while firstRequest < requests.count {
        let reader = requests[firstRequest]
        firstRequest += 1
        if firstRequest == requests.count || firstRequest == Self.greatestLag { forgetDone() }
        if reader.stage == .requested { return reader }
      }
      pthread_cond_wait(hasRequest, lock)
    }
    return nil
  }

  private func forgetDone() {
    requests.removeFirst(firstRequest)
    firstRequest = 0
  }
}

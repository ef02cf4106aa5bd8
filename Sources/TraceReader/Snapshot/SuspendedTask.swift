extension SnapshotMemory {
  /// The code in which a suspended task of Swift and the functions that wait for one another in it go
  /// on.
  ///
  /// ```
  /// task      +56 where it goes on    +64 frame     +104 record of what it waits for
  /// record    +40 the task
  /// frame     +0 frame of the caller  +8 where the caller goes on
  /// ```
  /// A task that runs or is done has no such record.
  /// Source: `include/swift/ABI/Task.h` and `TaskStatus.h` of the Swift repository.
  ///
  /// - Parameter task: The beginning of the task.
  /// - Returns: The addresses of the code, innermost function first; empty where the task is not
  ///   suspended, or has another form than this one.
  public func codeOfSuspendedTask(at task: UInt64) -> [UInt64] {
    let record = word(at: task &+ 104)
    guard record != 0, word(at: record &+ 40) == task else { return [] }
    var code = [word(at: task &+ 56)]
    var frame = word(at: task &+ 64)
    while frame != 0, code.count < Self.deepestSuspension {
      code.append(word(at: frame &+ 8))
      frame = word(at: frame)
    }
    return code.filter { isCode($0) }
  }

  /// Who waits for whom beyond this is of no interest; only a damaged trace says more.
  private static let deepestSuspension = 256

  private func isCode(_ address: UInt64) -> Bool {
    region(containing: address)?.protection.contains(.execute) == true
  }
}

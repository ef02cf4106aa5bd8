import SystemPackage

extension RecordedRun {
  /// Packs the traces of a recording and removes the plain ones.
  ///
  /// A trace that cannot be packed stays as it is, and so does one whose process still runs: it
  /// goes on writing. Both are said on standard error.
  ///
  /// - Parameter directory: Paths are shown relative to it where they lie in it.
  mutating func pack(relativeTo directory: FilePath) {
    for position in traces.indices {
      let trace = traces[position]
      let name = trace.path.shown(relativeTo: directory)
      if trace.header.pid != pid, RunningRecording.isWritten(trace.path) {
        Diagnostics.write("\(name) is not packed: its process still runs")
        continue
      }
      let target = OutputNaming.packed(trace.path)
      do throws(CommandFailure) {
        traces[position].packed = try PackSession().pack(
          trace.path, shownAs: name,
          to: TraceTarget(path: target, name: target.shown(relativeTo: directory)))
        traces[position].path = target
        trace.path.remove()
      } catch {
        Diagnostics.write("\(name) is not packed and stays as it is: \(error)")
      }
    }
  }
}

extension FilePath {
  /// The path to show to the user: relative where it lies in the directory.
  func shown(relativeTo directory: FilePath) -> String {
    var path = self
    _ = path.removePrefix(directory)
    return path.string
  }
}

import Symbolication
import TraceReader

/// The frames of a recorded program as names that a test can know.
final class FrameNames {
  private let trace: Trace
  private let elsewhere: String?
  private let symbolicator: StackSymbolicator
  private var names: [StackID: String] = [:]

  /// Makes names for one trace.
  ///
  /// - Parameters:
  ///   - trace: The recording.
  ///   - elsewhere: What stands for functions outside of the program, since libraries may come
  ///     without symbols; nil to name them, too.
  init(_ trace: Trace, elsewhere: String? = ".") {
    self.trace = trace
    self.elsewhere = elsewhere
    symbolicator = StackSymbolicator(
      stacks: trace.stacks, images: trace.images, symbolicator: ELFSymbolicator())
  }

  /// The names of a backtrace, leaf first.
  ///
  /// A function of the program has its name, code in no image is `-`. Marks are `8 left out` and
  /// `callers not known`.
  func names(of stack: StackID) -> [String] {
    let names = trace.stacks.frames(of: stack).map { frame in
      if let known = self.names[frame.node] { return known }
      let name = self.name(of: frame)
      self.names[frame.node] = name
      return name
    }
    return trace.stacks.lacksRoot(stack) ? names + ["callers not known"] : names
  }

  private func name(of frame: RawFrame) -> String {
    if let omitted = frame.omitted { return "\(omitted) left out" }
    let image = trace.images.image(containing: frame.lookupAddress, seenBy: frame.node)
    guard let image else { return "-" }
    if let elsewhere, image.path != trace.process.executablePath { return elsewhere }
    return symbolicator.frames(of: frame).first?.baseName ?? "?"
  }
}

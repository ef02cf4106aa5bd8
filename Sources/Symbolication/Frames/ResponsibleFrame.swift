/// Finds the frame that a report blames for an allocation.
public enum ResponsibleFrame {
  /// The first frame of the user; else the first that is neither allocator nor runtime; else the
  /// outermost.
  ///
  /// - Parameter frames: Leaf first; inlined frames count as frames, markers do not.
  /// - Returns: `nil` when there is no frame but markers.
  public static func find(in frames: some Sequence<SymbolicatedFrame>) -> SymbolicatedFrame? {
    var firstSystem: SymbolicatedFrame?
    var outermost: SymbolicatedFrame?
    for frame in frames {
      switch frame.role {
      case .user: return frame
      case .system: firstSystem = firstSystem ?? frame
      case .runtime: break
      case .marker: continue
      }
      outermost = frame
    }
    return firstSystem ?? outermost
  }

  /// A description such as `malloc in parse_header`.
  ///
  /// - Parameters:
  ///   - function: The allocator function that was called, for example `malloc` or `new`.
  ///   - frame: The responsible frame; `nil` gives the function alone.
  /// - Returns: The function and the frame's name without parameters.
  public static func describe(_ function: String, in frame: SymbolicatedFrame?) -> String {
    guard let frame, frame.role != .marker else { return function }
    return "\(function) in \(frame.baseName)"
  }
}

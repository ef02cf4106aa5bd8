/// A frame by where its code is: recorded frames of one place in the code have the same.
///
/// A trace can hold a million backtraces, which lead to a few thousand of these.
public struct FramePlace: Hashable, Sendable {
  private let storedLocation: Int32
  private let storedPosition: Int32

  /// Makes the place of a frame.
  ///
  /// - Parameters:
  ///   - location: The number that ``StackSymbolicator/location(of:)`` gives; less than 2^31.
  ///   - position: Which of the frames there, the innermost counted 0.
  init(location: Int, position: Int) {
    storedLocation = Int32(clamping: location)
    storedPosition = Int32(clamping: position)
  }

  /// The number that ``StackSymbolicator/location(of:)`` gives.
  public var location: Int { Int(storedLocation) }
  /// Which of the frames there, the innermost counted 0.
  public var position: Int { Int(storedPosition) }
}

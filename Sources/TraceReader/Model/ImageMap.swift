/// All images of the traced process, found by address and age.
///
/// After `dlclose` another image may take the same addresses. Which of the two a frame lies in
/// follows from the ID of its stack node, because IDs count up over time.
public struct ImageMap: Sendable {
  /// The images in order of appearance.
  public let images: [Image]
  /// Positions in `images`, in the order in which they were loaded.
  private let order: [Int]
  private let ranges: ImageRanges
  /// The first stack nodes that may lie in an image, or do not any more, in ascending order.
  private let changes: [StackID]

  /// Creates a map; images may overlap where they were not loaded at the same time.
  public init(images: [Image]) {
    self.images = images
    order = images.indices.sorted { (images[$0].firstStack, $0) < (images[$1].firstStack, $1) }
    ranges = ImageRanges(order.map { images[$0] })
    changes = Set(images.map(\.firstStack) + images.compactMap(\.unloadedFromStack)).sorted()
  }

  /// The image that a frame lies in.
  ///
  /// An unload that nobody saw leaves two candidates: the later image is the one that is there.
  ///
  /// - Parameters:
  ///   - pc: An address inside the image; for a return address, pass the call before it.
  ///   - node: The stack node the frame comes from, which tells its age.
  /// - Returns: nil when no image was mapped there at that time.
  /// - Complexity: O(log² *n*) where images that overlap were not loaded at the same time.
  public func image(containing pc: Address, seenBy node: StackID) -> Image? {
    ranges.last(covering: pc, seenBy: node).map { images[order[$0]] }
  }

  /// A number for the images that were there at the time of a stack node: nodes that have the same number
  /// find the same image at an address.
  package func era(of node: StackID) -> Int {
    changes.partitioningIndex { $0 > node }
  }

  /// The image that held an address of data at a moment.
  ///
  /// - Returns: nil when no image was mapped there at that time.
  public func image(containing address: Address, at time: EventTime) -> Image? {
    ranges.last(covering: address) { images[order[$0]].wasLoaded(at: time) }
      .map { images[order[$0]] }
  }
}

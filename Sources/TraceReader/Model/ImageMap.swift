/// All images of the traced process, found by address and age.
///
/// After `dlclose` another image may take the same addresses. Which of the two a frame lies in
/// follows from the ID of its stack node, because IDs count up over time.
public struct ImageMap: Sendable {
  /// The images in order of appearance.
  public let images: [Image]
  /// Indices into `images` in ascending order of start address.
  private let order: [Int]
  /// For each element of `order`, the greatest end address up to and including it.
  private let greatestEnd: [Address]

  /// Creates a map; images may overlap where they were not loaded at the same time.
  public init(images: [Image]) {
    self.images = images
    order = images.indices.sorted {
      (images[$0].start, images[$0].index) < (images[$1].start, images[$1].index)
    }
    var highest = Address(0)
    greatestEnd = order.map { index in
      highest = max(highest, images[index].end)
      return highest
    }
  }

  /// The image that a frame lies in.
  ///
  /// - Parameters:
  ///   - pc: An address inside the image; for a return address, pass the call before it.
  ///   - node: The stack node the frame comes from, which tells its age.
  /// - Returns: nil when no image was mapped there at that time.
  /// - Complexity: O(log *n*) where images do not overlap.
  public func image(containing pc: Address, seenBy node: StackID) -> Image? {
    var position = order.partitioningIndex { images[$0].start > pc }
    var found: Image?
    while position > 0, greatestEnd[position - 1] > pc {
      position -= 1
      let image = images[order[position]]
      guard image.contains(pc), image.wasLoaded(at: node) else { continue }
      // An unload that nobody saw leaves two candidates: the later image is the one that is there.
      if image.index >= found?.index ?? 0 { found = image }
    }
    return found
  }

  /// The image that held an address of data at a moment.
  ///
  /// - Returns: nil when no image was mapped there at that time.
  public func image(containing address: Address, at time: EventTime) -> Image? {
    images.last { $0.contains(address) && $0.wasLoaded(at: time) }
  }

  /// The image with this index.
  public func image(index: UInt32) -> Image? {
    if let direct = Int(exactly: index), direct < images.count, images[direct].index == index {
      return images[direct]
    }
    return images.first { $0.index == index }
  }
}

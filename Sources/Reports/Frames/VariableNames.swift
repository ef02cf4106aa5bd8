import Symbolication
import TraceReader

/// The names of the variables of images, and texts that they hold.
///
/// Belongs to one thread at a time.
public final class VariableNames {
  private let images: ImageMap
  private let symbolicator: (any Symbolicator)?
  private let layouts: SwiftLayouts
  private let fullNames: Bool

  /// Makes names for the variables of one trace; without arguments it knows none.
  ///
  /// - Parameters:
  ///   - images: The images of the trace.
  ///   - symbolicator: Looks up names.
  ///   - layouts: What lies in values of Swift.
  ///   - fullNames: Whether names of Swift are printed with their modules and types.
  public init(
    images: ImageMap = ImageMap(images: []), symbolicator: (any Symbolicator)? = nil,
    layouts: SwiftLayouts = SwiftLayouts(), fullNames: Bool = false
  ) {
    self.images = images
    self.symbolicator = symbolicator
    self.layouts = layouts
    self.fullNames = fullNames
  }

  /// The variable that holds an address at a moment, or the place in the image; nil where no image
  /// was mapped.
  func variable(at address: UInt64, time: EventTime) -> ReportVariable? {
    guard let image = images.image(containing: Address(address), at: time) else { return nil }
    let symbol = symbolicator?.dataSymbol(at: Address(address), in: image)
    return ReportVariable(
      name: fullNames ? symbol?.name : symbol?.shortName, offset: symbol?.offset,
      size: symbol?.size, image: image.path, imageOffset: address &- image.loadBias,
      part: symbol.flatMap(layouts.part), hasWholeName: fullNames)
  }

  /// What a function of a program returns, as far as its code tells.
  ///
  /// - Parameters:
  ///   - function: A function of C without parameters.
  ///   - executable: The path of the program.
  /// - Returns: nil where the program has no such function, or is not at hand.
  public func text(returnedBy function: String, in executable: String) -> ReturnedText? {
    guard let image = images.images.first(where: { $0.path == executable }) else { return nil }
    return symbolicator?.text(returnedBy: function, in: image)
  }
}

/// A place in the data of an image.
public struct ReportVariable: Sendable, Hashable {
  /// The variable; nil where no symbol says.
  public var name: String?
  /// Bytes from the beginning of the variable.
  public var offset: UInt64?
  /// Bytes of the variable.
  public var size: UInt64?
  /// The path of the image.
  public var image: String
  /// Bytes from the beginning of the image.
  public var imageOffset: UInt64
  /// What lies at the place in a variable of Swift, as far as its type tells.
  var part: SwiftVariablePart?
  /// Whether the name ends with the type.
  var hasWholeName = false

  /// Whether somebody may follow what stands there.
  var mayPoint: Bool { part?.mayPoint ?? true }

  /// Whether what stands there refers to an object without holding it.
  var isUnowned: Bool { part?.isUnowned ?? false }

  /// How far the place is from the beginning of the container of an `Any` or `any P` that it lies in.
  var distanceInContainer: UInt64? {
    guard let offset, let container = part?.container, container <= offset else { return nil }
    return offset - container
  }

  /// `cache in libfoo.so`, `table + 16 in app`, `Settings.current.delegate in app`, `app + 0x4010`.
  var text: String {
    let image = ReportFrame.lastComponent(image)
    guard let name else { return "\(image) + \(HexText.of(imageOffset))" }
    guard let part, !part.name.isEmpty, !hasWholeName else {
      return "\(name)\(Self.distance(offset ?? 0)) in \(image)"
    }
    let rest = (offset ?? 0) - min(part.offset, offset ?? 0)
    return "\(name).\(part.name)\(Self.distance(rest)) in \(image)"
  }

  private static func distance(_ bytes: UInt64) -> String { bytes == 0 ? "" : " + \(bytes)" }
}

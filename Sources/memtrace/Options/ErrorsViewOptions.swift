import ArgumentParser
import TraceReader

/// Which errors are shown, and how.
struct ErrorsViewOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only errors of this kind, may be repeated: \(Self.kinds).", valueName: "kind"),
    completion: .list(MemoryError.Category.allCases.map(\.identifier)), transform: Self.kind)
  var kind: [MemoryError.Category] = []

  @OptionGroup var stacks: StackViewOptions

  private static let kinds =
    MemoryError.Category.allCases.map(\.identifier).joined(separator: ", ")

  @Sendable private static func kind(_ text: String) throws -> MemoryError.Category {
    guard let kind = MemoryError.Category(identifier: text) else {
      throw ValidationError("the kinds are \(kinds)")
    }
    return kind
  }
}

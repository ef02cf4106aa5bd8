import TraceReader

/// What the rows of the Allocations table stand for.
public enum AllocationsGrouping: String, Sendable, CaseIterable, Encodable {
  case category, type, stack, function, image, thread, size

  /// The title of the first column.
  var title: String {
    switch self {
    case .category: "Category"
    case .type: "Type"
    case .stack: "Stack"
    case .function: "Responsible Caller"
    case .image: "Responsible Library"
    case .thread: "Thread"
    case .size: "Size"
    }
  }
}

/// What tells the groups of one grouping apart.
enum GroupKey: Hashable {
  case category(BlockCategory)
  case stack(StackID)
  case function(name: String, image: String?)
  case image(String?)
  case thread(ThreadIndex)
  /// Requested sizes above half of this number of bytes, up to it.
  case size(UInt64)

  /// The group that a site belongs to.
  init(_ site: Site, _ grouping: AllocationsGrouping, _ source: ReportSource) {
    let names = source.names
    switch grouping {
    case .category: self = .category(source.categories.category(of: site))
    case .type: self = .category(source.categories.detailedCategory(of: site))
    case .stack: self = .stack(of: site.stack, names)
    case .thread: self = .thread(site.thread)
    case .size: self = .size(Self.powerOfTwo(above: site.sizeClass.bytes))
    case .function: self = .function(of: site.stack, names)
    case .image: self = .image(names.responsible(of: site.stack)?.imageName)
    }
  }

  /// The stacks that read like one.
  static func stack(of stack: StackID, _ names: StackNames) -> GroupKey {
    .stack(names.likeness(of: stack))
  }

  /// The function that is responsible for what a stack does.
  static func function(of stack: StackID, _ names: StackNames) -> GroupKey {
    let frame = names.responsible(of: stack)
    return .function(name: frame?.name ?? "<no stack recorded>", image: frame?.imageName)
  }

  /// The text in the first column.
  func label(_ source: ReportSource) -> String {
    switch self {
    case .category(let category): category.name
    case .stack(let stack):
      source.names.responsible(of: stack)?.title ?? "<no stack recorded>"
    case .function(let name, let image):
      image.map { name.hasPrefix($0 + "+") ? name : "\(name)  \($0)" } ?? name
    case .image(let image): image ?? "<no image>"
    case .thread(let thread): source.threads.summary(of: thread).text
    case .size(let upper): Self.sizeLabel(upper)
    }
  }

  private static func sizeLabel(_ upper: UInt64) -> String {
    let highest = upper == .max ? "more" : ByteStyle.human.format(upper)
    if upper <= 16 { return "up to \(highest)" }
    return "\(ByteStyle.human.format(upper / 2 + 1))–\(highest)"
  }

  /// The least power of two that is not below `bytes`, at least 16.
  private static func powerOfTwo(above bytes: UInt64) -> UInt64 {
    var power: UInt64 = 16
    while power < bytes {
      if power >= 1 << 63 { return .max }
      power <<= 1
    }
    return power
  }
}

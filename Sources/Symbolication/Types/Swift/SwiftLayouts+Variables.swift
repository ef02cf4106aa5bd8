/// A place in a variable of Swift.
public struct SwiftVariablePart: Sendable, Hashable {
  /// The property of the variable's value that lies there, with those that it lies in: `settings.delegate`; empty
  /// where the value has none.
  public var name: String
  /// Where that begins in the variable, in bytes.
  public var offset: UInt64
  /// Whether somebody may follow what stands there: what only identifies an object, or is a small number, is no pointer.
  public var mayPoint: Bool
  /// Whether an `unowned` reference stands there, which does not hold its object.
  public var isUnowned: Bool
  /// Where the container of an `Any` or `any P` begins in the variable that has the place in the room for its value;
  /// nil elsewhere.
  public var container: UInt64?

  /// Describes a place.
  public init(
    name: String, offset: UInt64, mayPoint: Bool, isUnowned: Bool = false,
    container: UInt64? = nil
  ) {
    (self.name, self.offset, self.mayPoint) = (name, offset, mayPoint)
    (self.isUnowned, self.container) = (isUnowned, container)
  }
}

/// What lies in variables, whose symbols name their types: `static app.Cache.shared : app.Cache`.
extension SwiftLayouts {
  /// What lies where a symbol points.
  ///
  /// - Parameter symbol: A variable, and how far from its beginning.
  /// - Returns: nil for variables of other languages, and where nothing is known of the type.
  public func part(of symbol: DataSymbol) -> SwiftVariablePart? {
    guard let type = symbol.swiftType, let value = value(ofVariable: type) else { return nil }
    let field = value.fields.last { $0.offset <= symbol.offset && !$0.name.isEmpty }
    let mayPoint = !value.fields.contains {
      $0.numberOffset == symbol.offset
        || $0.ownership == .identifier && $0.offset == symbol.offset
    }
    return SwiftVariablePart(
      name: field?.name ?? "", offset: field?.offset ?? 0, mayPoint: mayPoint,
      isUnowned: value.fields.contains {
        $0.ownership == .unowned && $0.offset == symbol.offset
      },
      container: Self.container(around: symbol.offset, in: value))
  }

  /// Where the container begins that has a place in the room for its value: protocols of classes only leave out the
  /// room.
  private static func container(around offset: UInt64, in value: SwiftElements) -> UInt64? {
    guard let index = value.fields.lastIndex(where: { $0.offset <= offset }),
      value.fields[index].ownership == .existential
    else { return nil }
    let start = value.fields[index].offset
    let end = index + 1 < value.fields.count ? value.fields[index + 1].offset : value.stride
    return end >= start + 32 && offset - start < 24 ? start : nil
  }

  /// An optional has the same form as its content, as far as there is one.
  private func value(ofVariable type: String) -> SwiftElements? {
    Self.typesToAsk(ofVariable: type).lazy.compactMap(elements).first
  }

  /// The types of which one has to be known for ``part(of:)``, in this order.
  static func typesToAsk(ofVariable type: String) -> [String] {
    [type] + (withoutOptional(type).map { [$0] } ?? [])
  }
}

extension DataSymbol {
  /// The whole name of the type that the symbol of a variable of Swift has behind it; nil for others.
  var swiftType: String? {
    guard let separator = name.firstRange(of: " : ") else { return nil }
    let type = String(name[separator.upperBound...])
    return CapturedTypes.written(SwiftNameShortener.withoutDiscriminators(type))
  }
}

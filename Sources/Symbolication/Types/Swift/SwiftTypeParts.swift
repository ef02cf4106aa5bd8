/// The parts of the name of a type of Swift.
struct SwiftTypeParts {
  /// What kind of type it is.
  enum Form: Equatable {
    /// `(A, B) -> C`.
    case function
    /// `(A, label: B)`.
    case tuple([Element])
    /// `Module.Name<A, B>`; a type within others, `Module.Outer<A>.Inner<B>`, is `Module.Outer.Inner` with all arguments.
    case named(Substring, arguments: [Substring])
  }

  /// An element of a tuple.
  struct Element: Equatable {
    /// What the source calls it; nil where it has no name.
    var label: Substring?
    /// The name of its type.
    var type: Substring

    /// Takes `label: Type` or `Type` apart.
    init(_ text: Substring) {
      type = text
      guard let colon = text.firstIndex(where: { !($0.isLetter || $0.isNumber || $0 == "_") }),
        text[colon] == ":", colon > text.startIndex
      else { return }
      label = text[..<colon]
      type = text[text.index(after: colon)...].drop { $0 == " " }
    }

    /// What the element is called: by its place where it has no label.
    func name(at number: Int) -> String { label.map(String.init) ?? String(number) }
  }

  /// What stands between two parentheses that are in no others.
  private struct Group {
    var opening: Substring.Index
    /// Nil as long as none is found.
    var closing: Substring.Index?
    var commas: [Substring.Index] = []
  }

  /// What kind of type it is.
  let form: Form

  /// Takes a name apart, as far as its outermost parentheses.
  init(_ name: Substring) {
    let (groups, hasArrow) = Self.structure(of: name)
    if hasArrow {
      form = .function
    } else if groups.count == 1, Self.isTuple(groups[0], in: name) {
      form = .tuple(Self.list(name, in: groups[0]).map(Element.init))
    } else if !groups.isEmpty, groups.allSatisfy({ Self.isArguments($0, in: name) }) {
      form = .named(
        Self.without(groups, name), arguments: groups.flatMap { Self.list(name, in: $0) })
    } else {
      form = .named(name, arguments: [])
    }
  }

  /// The outermost parentheses, and whether an arrow is outside of them.
  private static func structure(of name: Substring) -> (groups: [Group], hasArrow: Bool) {
    var (groups, hasArrow): ([Group], Bool) = ([], false)
    var depth = 0
    var last: Character = " "
    for index in name.indices {
      switch name[index] {
      case "<", "(":
        if depth == 0 { groups.append(Group(opening: index)) }
        depth += 1
      case ">" where last == "-": hasArrow = hasArrow || depth == 0
      case ">", ")":
        depth -= 1
        if depth == 0, !groups.isEmpty { groups[groups.count - 1].closing = index }
      case "," where depth == 1: groups[groups.count - 1].commas.append(index)
      default: break
      }
      last = name[index]
    }
    return (groups, hasArrow)
  }

  private static func isTuple(_ group: Group, in name: Substring) -> Bool {
    group.opening == name.startIndex && name[group.opening] == "("
      && group.closing.map(name.index(after:)) == name.endIndex
  }

  /// Whether they are the arguments of the type, or of one that it is in.
  private static func isArguments(_ group: Group, in name: Substring) -> Bool {
    guard name[group.opening] == "<", group.opening > name.startIndex, let closing = group.closing
    else { return false }
    return [nil, "."].contains(name[closing...].dropFirst().first)
  }

  private static func without(_ groups: [Group], _ name: Substring) -> Substring {
    if groups.count == 1, groups[0].closing.map(name.index(after:)) == name.endIndex {
      return name[..<groups[0].opening]
    }
    var (rest, start) = ("", name.startIndex)
    for group in groups {
      guard let closing = group.closing else { break }
      rest += name[start..<group.opening]
      start = name.index(after: closing)
    }
    return Substring(rest + name[start...])
  }

  private static func list(_ name: Substring, in group: Group) -> [Substring] {
    guard let closing = group.closing else { return [] }
    var start = name.index(after: group.opening)
    var parts: [Substring] = []
    for end in group.commas + [closing] {
      guard start <= end else { break }
      parts.append(name[start..<end].drop { $0 == " " })
      start = name.index(after: end)
    }
    return parts.last == "" ? [] : parts
  }
}

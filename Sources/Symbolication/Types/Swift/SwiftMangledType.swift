/// Writes the mangled type of a stored property as its name: `Synchronization.Mutex<app.State>`.
///
/// Types of the program and of libraries are references in it: a byte, and how far the descriptor is, or the word that
/// leads to it. The parameters of a generic type are called `A`, `B` and so on.
///
/// ```
/// reference  y  types  G      a generic type with its arguments; those of types that it is in stand in front of them,
///                             each behind the last with a `_`
/// type  _  types  t           a tuple; an element may have a label behind it, its length and its letters
/// $  index                    a number, as an `InlineArray` has
/// protocol  _  protocols  p   a value of any type that conforms to these
/// results  parameters  c      a function
/// A  letter                   again the type that was the first, second and so on, not counting tuples and what has
///                             a letter of its own; a small letter where another one follows
/// ```
/// Source: `docs/ABI/Mangling.rst` of the Swift repository.
struct SwiftMangledType {
  private enum Item: Equatable {
    case type(String)
    /// `y`: an empty list, or the beginning of one of arguments.
    case list
    /// `_`, behind the first of several.
    case separator
  }

  private let contents: ELFContents
  /// The symbol that the dynamic linker puts the address of at an address.
  private let symbol: (UInt64) -> String?
  private var address: UInt64
  private var items: [Item] = []
  /// What can be meant again.
  private var earlier: [String] = []

  /// No type is longer; only a damaged file says so.
  private static let greatestLength: UInt64 = 1024

  /// The name of the type that begins at an address.
  ///
  /// - Returns: nil where something is in it that is not known.
  static func name(
    at start: UInt64, in contents: ELFContents, symbol: @escaping (UInt64) -> String?
  ) -> String? {
    var type = SwiftMangledType(contents, symbol, start)
    while type.address &- start < greatestLength, let byte = type.next(), byte != 0 {
      guard type.add(byte) else { return nil }
    }
    guard type.items.count == 1, case .type(let name) = type.items[0] else { return nil }
    return name
  }

  private init(_ contents: ELFContents, _ symbol: @escaping (UInt64) -> String?, _ start: UInt64) {
    (self.contents, self.symbol, address) = (contents, symbol, start)
  }

  private mutating func next() -> UInt8? {
    defer { address &+= 1 }
    return contents.integer(UInt8.self, at: address)
  }

  private mutating func nextCharacter() -> Character? {
    next().map { Character(Unicode.Scalar($0)) }
  }

  /// - Returns: false where that is not known.
  private mutating func add(_ byte: UInt8) -> Bool {
    switch Character(Unicode.Scalar(byte)) {
    case "\u{1}": return addReference(isIndirect: false)
    case "\u{2}": return addReference(isIndirect: true)
    case "y": items.append(.list)
    case "_": items.append(.separator)
    case "x": items.append(.type("A"))
    case "q": return addParameter()
    case "A": return addEarlier()
    case "$": return addNumber()
    case "1"..."9": return addLabel(firstDigit: byte)
    case "S": return addStandard()
    case "G": return endArguments()
    case "t": return endTuple()
    case "p": return endProtocols()
    case "X": return endClasses()
    case "c": return endFunction()
    // `throws`; `async` and `@Sendable`.
    case "K": return true
    case "Y": return nextCharacter().map("ab".contains) == true
    default: return false
    }
    return true
  }

  private mutating func addReference(isIndirect: Bool) -> Bool {
    guard let target = contents.relative(at: address),
      let name = isIndirect ? indirectName(target) : contents.swiftPath(of: target)
    else { return false }
    address &+= 4
    addNew(name)
    return true
  }

  private mutating func addNew(_ name: String) {
    items.append(.type(name))
    earlier.append(name)
  }

  private mutating func addEarlier() -> Bool {
    while let character = nextCharacter(), let letter = character.asciiValue, character.isLetter {
      let index = Int(letter & 0x1f) - 1
      guard earlier.indices.contains(index) else { return false }
      items.append(.type(earlier[index]))
      if character.isUppercase { return true }
    }
    return false
  }

  private func indirectName(_ place: UInt64) -> String? {
    if let symbol = symbol(place) { return Self.name(ofDescriptor: symbol) }
    return contents.integer(UInt64.self, at: place).flatMap(contents.swiftPath)
  }

  /// The type that the symbol of a descriptor names.
  private static func name(ofDescriptor symbol: String) -> String? {
    let name = Demangler.name(of: symbol).full
    return ["nominal type descriptor for ", "protocol descriptor for "]
      .first(where: name.hasPrefix).map { String(name.dropFirst($0.count)) }
  }

  /// `q_` is the second parameter, `q0_` the third.
  private mutating func addParameter() -> Bool {
    var number = 1
    while let character = nextCharacter(), character != "_" {
      guard number == 1, let digit = character.wholeNumberValue else { return false }
      number = digit + 2
    }
    items.append(.type(String(Unicode.Scalar(UInt8(ascii: "A") + UInt8(number)))))
    return true
  }

  /// A type of the standard library, several times where a number stands in front of it; `Sg` is an optional, behind
  /// `Sc` are the types for concurrency.
  private mutating func addStandard() -> Bool {
    guard var character = nextCharacter() else { return false }
    var count = 1
    if let digit = character.wholeNumberValue, let behind = nextCharacter() {
      (count, character) = (digit, behind)
    }
    if character == "g" {
      guard case .type(let content) = items.popLast() else { return false }
      addNew("Swift.Optional<\(content)>")
      return true
    }
    let name =
      character == "c"
      ? nextCharacter().flatMap { Self.standardOfConcurrency[$0] } : Self.standard[character]
    guard let name else { return false }
    items += Array(repeating: .type("Swift.\(name)"), count: count)
    return true
  }

  private static let standard: [Character: String] = [
    "a": "Array", "b": "Bool", "D": "Dictionary", "d": "Double", "f": "Float", "h": "Set",
    "J": "Character", "N": "ClosedRange", "n": "Range", "O": "ObjectIdentifier",
    "P": "UnsafePointer", "p": "UnsafeMutablePointer", "q": "Optional",
    "R": "UnsafeBufferPointer", "r": "UnsafeMutableBufferPointer", "S": "String",
    "s": "Substring", "i": "Int", "u": "UInt", "V": "UnsafeRawPointer",
    "v": "UnsafeMutableRawPointer",
  ]

  private static let standardOfConcurrency: [Character: String] = [
    "A": "Actor", "C": "CheckedContinuation", "c": "UnsafeContinuation", "E": "CancellationError",
    "e": "UnownedSerialExecutor", "F": "Executor", "f": "SerialExecutor", "G": "TaskGroup",
    "g": "ThrowingTaskGroup", "h": "TaskExecutor", "I": "AsyncIteratorProtocol",
    "i": "AsyncSequence", "J": "UnownedJob", "M": "MainActor", "P": "TaskPriority",
    "S": "AsyncStream", "s": "AsyncThrowingStream", "T": "Task", "t": "UnsafeCurrentTask",
  ]

  private mutating func endArguments() -> Bool {
    guard let start = items.lastIndex(of: .list), start > 0,
      case .type(let name) = items[start - 1]
    else { return false }
    let levels = items[(start + 1)...].split(
      separator: .separator, omittingEmptySubsequences: false)
    let arguments = levels.compactMap(Self.names)
    guard arguments.count == levels.count, let whole = Self.name(name, with: arguments) else {
      return false
    }
    items.removeSubrange((start - 1)...)
    addNew(whole)
    return true
  }

  /// The name of a generic type with arguments: `app.Outer<Int>.Inner`.
  ///
  /// - Parameters:
  ///   - name: The name without them.
  ///   - levels: The arguments of the type, behind those of the types that it is in.
  /// - Returns: nil where there are none.
  private static func name(_ name: String, with levels: [[String]]) -> String? {
    var parts = name.split(separator: ".").map(String.init)
    guard parts.count > levels.count, !levels.joined().isEmpty else { return nil }
    for (index, arguments) in levels.enumerated() where !arguments.isEmpty {
      parts[parts.count - levels.count + index] += "<\(arguments.joined(separator: ", "))>"
    }
    return parts.joined(separator: ".")
  }

  /// `$_` is 0, `$0_` is 1.
  private mutating func addNumber() -> Bool {
    var digits = ""
    while let character = nextCharacter(), character != "_" { digits.append(character) }
    guard let number = digits.isEmpty ? 0 : Int(digits).map({ $0 &+ 1 }), number >= 0 else {
      return false
    }
    items.append(.type(String(number)))
    return true
  }

  /// The label of an element of a tuple stands behind its type.
  private mutating func addLabel(firstDigit: UInt8) -> Bool {
    var digits = String(Unicode.Scalar(firstDigit))
    while let digit = contents.integer(UInt8.self, at: address),
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit
    {
      digits.append(Character(Unicode.Scalar(digit)))
      address &+= 1
    }
    guard let length = Int(digits), length < Self.greatestLength, case .type(let type) = items.last
    else { return false }
    let label = (0..<length).compactMap { _ in nextCharacter() }
    items[items.count - 1] = .type("\(String(label)): \(type)")
    return true
  }

  private mutating func endTuple() -> Bool {
    endSeveral(none: "()") { "(\($0.joined(separator: ", ")))" }
  }

  private mutating func endProtocols() -> Bool {
    endSeveral(none: "Any") { $0.joined(separator: " & ") }
  }

  /// `yXl` is any object; protocols may stand in front of it.
  private mutating func endClasses() -> Bool {
    let object = "Swift.AnyObject"
    return nextCharacter() == "l"
      && endSeveral(none: object) { ($0 + [object]).joined(separator: " & ") }
  }

  /// Puts one type in the place of several, or of an empty list.
  private mutating func endSeveral(none: String, _ join: ([String]) -> String) -> Bool {
    if items.last == .list {
      items[items.count - 1] = .type(none)
      return true
    }
    guard let several = takeSeveral() else { return false }
    items.append(.type(join(several)))
    return true
  }

  /// What a function takes and returns does not matter here.
  private mutating func endFunction() -> Bool {
    guard items.count >= 2, !items.suffix(2).contains(.separator) else { return false }
    items.removeLast(2)
    addNew("() -> ()")
    return true
  }

  /// Takes the types around and behind the last separator.
  private mutating func takeSeveral() -> [String]? {
    guard let separator = items.lastIndex(of: .separator), separator > 0,
      let first = Self.names(items[separator - 1...separator - 1]),
      let others = Self.names(items[(separator + 1)...])
    else { return nil }
    items.removeSubrange((separator - 1)...)
    return first + others
  }

  private static func names(_ items: ArraySlice<Item>) -> [String]? {
    var names: [String] = []
    for item in items {
      guard case .type(let name) = item else { return nil }
      names.append(name)
    }
    return names
  }
}

/// The name of a function, in the spellings that reports choose from.
public struct FunctionName: Sendable, Hashable {
  /// The symbol as the compiler wrote it, for example `_ZN6Parser5parseEi`.
  ///
  /// Where debug information has no linkage name this is the plain name of the source.
  public let raw: String

  /// The readable name without what one can do without.
  ///
  /// `Parser::parse(std::string const&)`, `closure #1 in Foo.bar(_:)`, `alloc::vec::Vec<T>::push`.
  public let short: String

  /// The whole demangled text: return types, default template arguments, modules, hashes.
  public let full: String

  /// The short name without parameters, for one-line descriptions: `Parser::parse`.
  public let base: String

  /// The language that the mangling belongs to.
  public let language: SymbolLanguage

  /// Ends the short name of a function whose code the optimizer uses for several functions of
  /// Swift: it names one of them, and another may have been called.
  public static let mergedMark = " [merged]"

  /// Drops the ``mergedMark`` from a short name.
  public static func withoutMergedMark(_ name: String) -> String {
    name.hasSuffix(mergedMark) ? String(name.dropLast(mergedMark.count)) : name
  }

  /// Makes a name from all its spellings.
  public init(raw: String, short: String, full: String, base: String, language: SymbolLanguage) {
    self.raw = raw
    self.short = short
    self.full = full
    self.base = base
    self.language = language
  }

  /// Makes the name of a symbol that is not mangled.
  public init(plain name: String) {
    self.init(raw: name, short: name, full: name, base: name, language: .plain)
  }
}

/// The language of a symbol as far as its spelling tells.
public enum SymbolLanguage: String, Sendable, Hashable {
  /// C, assembler, or anything that is not mangled.
  case plain
  case cxx
  case rust
  case swift
  case d
}

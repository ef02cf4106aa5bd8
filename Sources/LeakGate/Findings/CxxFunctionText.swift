/// Names of C++ functions as they are left when a compiler inlines them.
///
/// Debug information names an inlined function by itself alone: `f` for what the symbol table has as
/// `(anonymous namespace)::f(int) const`. Whether a function is inlined changes with unrelated edits.
enum CxxFunctionText {
  /// The name without parameters, qualifiers, unnamed namespaces and lambdas' descriptions.
  static func normalised(_ name: String) -> String {
    guard name.contains("(") || name.contains("$_") else { return name }
    let named = name.replacing("(anonymous namespace)::", with: "")
    return withoutParameters(withoutOuterParameters(withoutLambdas(named)))
  }

  /// Cuts the parameters of the functions that a function is in: `load(int)::::operator()(int)` of a
  /// lambda, which debug information does not have.
  private static func withoutOuterParameters(_ name: String) -> String {
    guard name.contains("::") else { return name }
    var text = name
    var end = text.endIndex
    while let mark = text[..<end].ranges(of: "::").last {
      var outer = text[..<mark.lowerBound]
      while let suffix = qualifiers.first(where: { outer.hasSuffix($0) }) {
        outer = outer.dropLast(suffix.count)
      }
      end = mark.lowerBound
      guard outer.last == ")", let open = openingParenthesis(of: outer), open > text.startIndex,
        text[text.index(before: open)] != " ", !isCallOperator(text[..<open])
      else { continue }
      text.removeSubrange(open..<mark.lowerBound)
      end = open
    }
    return text
  }

  /// `main::{lambda(int)#1}::operator()` of GCC, in debug information `main::<lambda>::operator()`,
  /// and `main::$_0::operator()` of Clang.
  private static func withoutLambdas(_ name: String) -> String {
    var text = name
    while let start = text.firstRange(of: "{lambda("),
      let end = text[start.upperBound...].firstIndex(of: "}")
    {
      text.removeSubrange(start.lowerBound...end)
    }
    return text.replacing(/\$_[0-9]+/, with: "")
  }

  /// Cuts a list of parameters at the end.
  ///
  /// Labels of Swift are a part of the name: `f(_:)`.
  private static func withoutParameters(_ name: String) -> String {
    var text = name[...]
    while let suffix = qualifiers.first(where: { text.hasSuffix($0) }) {
      text = text.dropLast(suffix.count)
    }
    guard text.last == ")", let open = openingParenthesis(of: text) else { return name }
    let function = text[..<open]
    let parameters = text[text.index(after: open)...].dropLast()
    guard let last = function.last, last != " ", parameters.last != ":", !isCallOperator(function)
    else { return name }
    return String(function)
  }

  private static let qualifiers = [" const", " volatile", " &&", " &", " noexcept"]

  /// Whether the parentheses that follow are those of `operator()` itself.
  private static func isCallOperator(_ function: Substring) -> Bool {
    function == "operator" || function.hasSuffix("::operator")
  }

  private static func openingParenthesis(of text: Substring) -> Substring.Index? {
    var depth = 0
    for index in text.indices.reversed() {
      switch text[index] {
      case ")": depth += 1
      case "(": depth -= 1
      default: break
      }
      if depth == 0 { return index }
    }
    return nil
  }
}

import CLibDW
import Glibc

extension CompilationUnit {
  /// The name of a function: the mangled one where there is one, else that of the source.
  ///
  /// In C++ with the namespaces and classes that it is declared in: a name must not depend on whether
  /// the compiler inlined the function.
  func name(of function: Dwarf_Die) -> FunctionName? {
    name(of: function, depth: 0)
  }

  /// Code that was inlined at many addresses has one name, which may be long.
  private func name(of function: Dwarf_Die, depth: Int) -> FunctionName? {
    let named = function.namedEntry
    if let known = functionNames[named.addr] { return known }
    let found = newName(of: named, depth: depth)
    functionNames[named.addr] = .some(found)
    return found
  }

  private func newName(of function: Dwarf_Die, depth: Int) -> FunctionName? {
    guard let name = function.functionName else { return nil }
    guard isCxx, function.linkageName == nil else { return name }
    let declaration = function.declaration
    let path =
      functionScopes.path(of: declaration)
      ?? (name.raw == "operator()" ? localPath(to: declaration, depth: depth) : nil)
    return path.map { name.qualified(by: $0) } ?? name
  }

  /// `app::load::<lambda>` of a lambda in a function.
  ///
  /// - Complexity: O(*n*) in the entries of the unit.
  private func localPath(to declaration: Dwarf_Die, depth: Int) -> String? {
    var origin = declaration
    var scopes: UnsafeMutablePointer<Dwarf_Die>?
    let count = Int(dwarf_getscopes_die(&origin, &scopes))
    guard count > 1, let scopes else { return nil }
    defer { free(scopes) }
    var path: [String] = []
    for scope in UnsafeBufferPointer(start: scopes, count: count).dropFirst() {
      let tag = scope.tag
      if tag == DW_TAG_subprogram {
        // Its definition may stand outside of what it is declared in.
        if depth < Self.deepestLambda, let outer = name(of: scope, depth: depth + 1) {
          path.append(outer.base)
        }
        break
      }
      if let name = scope.scopeName(tag) { path.append(name) }
    }
    return path.isEmpty ? nil : path.reversed().joined(separator: "::")
  }

  private static let deepestLambda = 32
}

extension FunctionName {
  /// The same name in a namespace or a class.
  fileprivate func qualified(by path: String) -> FunctionName {
    let full = "\(path)::\(raw)"
    let short = CxxNames.short(full)
    return FunctionName(
      raw: raw, short: short, full: full, base: CxxNames.withoutParameters(short),
      language: language)
  }
}

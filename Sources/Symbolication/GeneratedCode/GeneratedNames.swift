/// What runtimes call the functions of code that they generate, in the words of whoever wrote these.
enum GeneratedNames {
  /// The name of a function.
  ///
  /// V8 writes what kind of code it is and how far it is optimised, which changes while the program runs:
  /// `JS:*parse /srv/app.js:12:7`, `LazyCompile:~parse /srv/app.js:12:7`. Both are `parse /srv/app.js:12:7`.
  ///
  /// - Parameter text: As the runtime writes it.
  /// - Returns: The same, but for what says how a function of a script was compiled.
  static func function(_ text: String) -> FunctionName {
    guard let function = script(text) else { return FunctionName(plain: text) }
    let base = withoutPlace(function)
    let name = base.isEmpty ? "(anonymous)" : String(base)
    let short = base.isEmpty ? name + function : String(function)
    return FunctionName(raw: text, short: short, full: short, base: name, language: .plain)
  }

  /// Whether a function is the runtime's own: what interprets, or passes calls on.
  static func isRuntime(_ function: FunctionName) -> Bool {
    runtimePrefixes.contains { function.raw.hasPrefix($0) } || runtimeNames.contains(function.raw)
  }

  /// What follows the kind of code, if it is that of a script.
  private static func script(_ text: String) -> Substring? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
      scriptKinds.contains(String(text[..<colon]))
    else { return nil }
    return text[text.index(after: colon)...].drop { tiers.contains($0) }
  }

  /// Without the file, line and column at the end.
  private static func withoutPlace(_ function: Substring) -> Substring {
    guard let space = function.lastIndex(of: " "),
      function[space...].wholeMatch(of: /.*:[0-9]+:[0-9]+/) != nil
    else { return function }
    return function[..<space]
  }

  private static let scriptKinds: Set = ["JS", "LazyCompile", "Function", "Eval", "Script"]
  /// Interpreted, without optimisation, with some, with all.
  private static let tiers: Set<Character> = ["~", "^", "+", "*"]

  private static let runtimePrefixes = [
    "Builtin:", "BytecodeHandler:", "Handler:", "Stub:", "StubRoutines ", "RuntimeStub ",
  ]
  /// Of the JVM.
  private static let runtimeNames: Set = [
    "Interpreter", "I2C/C2I adapters", "vtable stub", "itable stub", "DeoptimizationBlob",
    "UncommonTrapBlob", "ExceptionBlob", "SafepointBlob",
  ]
}

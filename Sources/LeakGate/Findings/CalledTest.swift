import Reports
import Symbolication

/// The test that a harness for Swift has called, by the frames of that call.
///
/// This needs no marks: what `@Test` expands to calls a function of Swift Testing, and the list of the tests of a
/// class those of XCTest. Behind an `await` neither is on the stack any more.
enum CalledTest {
  /// The test on a stack.
  ///
  /// - Parameter frames: The stack, leaf first.
  /// - Returns: Its name as `swift test --filter` takes it; nil where no harness is seen to call one.
  static func name(in frames: [ReportFrame]) -> String? {
    for (function, caller) in zip(frames, frames.dropFirst()) where function.role == .user {
      if TextSearch.holds(caller.shortName, "@Test ") {
        return name(of: function, withParameters: true)
      }
      if TextSearch.holds(caller.shortName, ".__allTests__") {
        return name(of: function, withParameters: false)
      }
    }
    return nil
  }

  /// `Module.Suite/Inner/test(of:)` for the function `Suite.Inner.test(of:)` of the module.
  private static func name(of function: ReportFrame, withParameters: Bool) -> String? {
    let short = function.shortName
    guard let module = module(of: function), TestTimeline.split(short, at: " ").count == 1,
      let path = TestTimeline.withoutParameters(short)
    else { return nil }
    let name = TestTimeline.split(path, at: ".").joined(separator: "/")
    return "\(module).\(name)" + (withParameters ? short.dropFirst(path.count) : "")
  }

  private static func module(of function: ReportFrame) -> Substring? {
    guard let module = function.fullName?.prefix(while: { $0 != "." }),
      module.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    return module
  }
}

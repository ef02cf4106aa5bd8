internal import Memtrace
public import Testing

/// Tells `memtrace check` when a test of Swift Testing runs, so that a leak is reported with it.
///
/// It does nothing, and costs nothing, while memtrace does not record the tests.
///
/// ```swift
/// import MemtraceTesting
/// import Testing
///
/// @Suite(.memtrace) struct ParserTests {
///   @Test func emptyInputIsRefused() { … }
/// }
/// ```
public struct MemtraceTrait: TestTrait, SuiteTrait, TestScoping {
  /// The tests of a suite are meant, also those of the suites in it.
  public var isRecursive: Bool { true }

  /// Each run of a test function is marked by itself, suites are not.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    testCase != nil && Memtrace.isLoaded ? self : nil
  }

  /// Runs a test between two marks.
  ///
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let name = Self.name(of: test.id)
    TestMark.begin(name)
    defer { TestMark.end(name) }
    try await function()
  }

  /// As `swift test --filter` takes it: `ParserTests.LineTests/emptyInputIsRefused()`.
  private static func name(of test: Test.ID) -> String {
    "\(test.moduleName).\(test.nameComponents.joined(separator: "/"))"
  }
}

extension Trait where Self == MemtraceTrait {
  /// Lets `memtrace check` name the test, or the tests of the suite, that a leak comes from.
  public static var memtrace: Self { Self() }
}

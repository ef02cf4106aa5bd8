internal import Memtrace
internal import XCTest

/// Sets the marks for all tests of XCTest.
private final class MemtraceObserver: NSObject, XCTestObservation {
  func testCaseWillStart(_ testCase: XCTestCase) {
    TestMark.begin(name(of: testCase))
  }

  func testCaseDidFinish(_ testCase: XCTestCase) {
    TestMark.end(name(of: testCase))
  }

  /// As `swift test --filter` takes it: `ParserTests.LineTests/testEmptyInput`.
  private func name(of testCase: XCTestCase) -> String {
    let method = testCase.name.split(separator: ".").last.map(String.init) ?? testCase.name
    return "\(String(reflecting: type(of: testCase)))/\(method)"
  }
}

/// Called once before `main` by CMemtraceTesting, so that tests of XCTest need no line of their own.
@_cdecl("memtrace_testing_load")
func memtraceTestingLoad() {
  guard Memtrace.isLoaded else { return }
  XCTestObservationCenter.shared.addTestObserver(MemtraceObserver())
}

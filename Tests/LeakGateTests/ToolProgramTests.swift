import Testing

@testable import LeakGate

@Suite struct ToolProgramTests {
  @Test(arguments: [
    "/opt/swift/usr/bin/swift-frontend", "/usr/bin/git", "/usr/bin/clang-21", "/usr/bin/ctest",
    "/usr/bin/x86_64-linux-gnu-ld.gold", "/usr/libexec/swift/linux/swift-backtrace",
    "/tmp/TemporaryDirectory.aB1/app-manifest",
    "/home/me/app/.build/plugins/cache/Generate", "/usr/bin/sed", "/bin/dash", "/usr/bin/[",
    "/root/.cargo/bin/rustup", "/opt/rust/bin/cargo", "/opt/rust/bin/rustdoc",
    "/usr/local/go/bin/go", "/usr/lib/go-1.19/bin/go", "/usr/bin/go",
    "/usr/lib/go-1.19/pkg/tool/linux_amd64/link",
  ])
  func toolsAreLeftOutOnRequestOnly(path: String) {
    var measurer = ProcessMeasurer(needs: [])
    #expect(measurer.chooses(executable: path))
    measurer.skipsTools = true
    #expect(!measurer.chooses(executable: path))
  }

  @Test(arguments: [
    "/home/me/app/.build/debug/appPackageTests.xctest", "/home/me/sed/sed", "/usr/local/bin/sort",
    "sed", "/usr/bin/python3.11",
    "/usr/bin/perl", "/home/me/swift-tidy",
    "/home/me/clang-tidied", "/home/me/app-manifest", "/home/me/make-believe",
    "/home/me/games/go", "/home/me/games/bin/go",
  ])
  func otherProgramsAreChecked(path: String) {
    var measurer = ProcessMeasurer(needs: [])
    measurer.skipsTools = true
    #expect(measurer.chooses(executable: path))
  }
}

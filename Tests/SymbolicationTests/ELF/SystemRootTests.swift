import Testing
import TraceTestSupport

@testable import Symbolication

/// Where files of another file system can be reached.
@Suite struct SystemRootTests {
  private let scratch: ScratchDirectory

  init() throws {
    scratch = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c",
        """
        mkdir -p usr/lib/real opt && ln -s usr/lib lib && ln -s /opt/../usr/lib/real usr/lib/absolute &&
        ln -s ../../../../../../lib/real opt/up && ln -s loop loop && ln -s /etc/passwd opt/file
        """,
      ], directory: scratch.path)
    #expect(run.status == 0, "\(run.errorText)")
  }

  @Test(arguments: [
    ("/usr/lib/real/x.so", "/usr/lib/real/x.so"), ("/lib/real/x.so", "/usr/lib/real/x.so"),
    ("/lib/absolute/x.so", "/usr/lib/real/x.so"), ("/opt/up/x.so", "/usr/lib/real/x.so"),
    ("/opt/file", "/etc/passwd"), ("/../..//./opt/none/../x", "/opt/x"), ("/loop/x", "/loop/x"),
    ("/", "/"), ("/e\u{301}/\u{301}x", "/e\u{301}/\u{301}x"),
  ])
  func linksMeanWhatTheyMeantThere(path: String, place: String) {
    for end in ["", "/", "///"] {
      let root = SystemRoot(folder: scratch.path.string + end)
      #expect(root.place(of: path) == scratch.path.string + place)
      #expect(root.path(of: scratch.path.string + place) == place)
    }
  }

  @Test func whatIsNotBelowTheFolderHasNoPathInIt() {
    let root = SystemRoot(folder: scratch.path.string)
    #expect(root.path(of: scratch.path.string) == nil)
    #expect(root.path(of: scratch.path.string + "x/y") == nil)
    #expect(root.path(of: "/usr") == nil)
    #expect(SystemRoot(folder: "/").place(of: "/none/such") == "/none/such")
    #expect(SystemRoot(folder: "/").path(of: "/none/such") == "/none/such")
  }
}

import SystemPackage
import Testing
import TraceTestSupport

@testable import memtrace

#if canImport(Glibc)
  import Glibc
#endif

/// A recorder whose path `LD_PRELOAD` cannot hold is loaded by a link.
@Suite struct PreloadLinkTests {
  private let directory: ScratchDirectory

  init() throws {
    directory = try ScratchDirectory()
  }

  /// A clone may stand in a folder whose name has a space.
  @Test(arguments: ["a b.so", "a:b.so", "$a.so"])
  func theRecorderIsLoaded(name: String) throws {
    let library = directory.path.appending(name)
    let copied = try ProcessRun.run(["/bin/cp", BuiltProducts.library.string, library.string])
    #expect(copied.status == 0)

    let run = try memtrace(
      "record", "-o", "link.mtrace", "--", "/bin/sh", "-c", "echo ran; /bin/true",
      in: directory.path, environment: ["MEMTRACE_LIBRARY=\(library)", "TMPDIR=\(directory.path)"])
    #expect(run.status == 0)
    #expect(run.outputText == "ran\n")
    #expect(!run.errorText.contains("ld.so"))
    let processes = directory.entries.filter { $0.hasSuffix(".mtrace") }
    #expect(processes.count == 2, "the shell and its child: \(processes)")
  }

  @Test func aLinkIsMadeOnceAndMendedWhenItPointsElsewhere() throws {
    let link = PreloadLink(library: try file("a b.so"), temporaryDirectory: directory.path.string)
    let path = try #require(link.make())
    #expect(path.lastComponent == "libmemtrace.so")
    #expect(path.resolved == link.library)
    #expect(link.make() == path)

    #expect(unlink(path.string) == 0)
    #expect(symlink("/elsewhere", path.string) == 0)
    #expect(link.make() == path)
    #expect(path.resolved == link.library)
    #expect(path.removingLastComponent().directoryEntries == ["libmemtrace.so"])
  }

  /// Whoever may write there could have another library preloaded.
  @Test func aFolderInWhichOthersCanWriteIsNotUsed() throws {
    let link = PreloadLink(library: try file("a b.so"), temporaryDirectory: directory.path.string)
    let own = directory.path.appending("memtrace-\(geteuid())").string
    #expect(mkdir(own, 0o777) == 0)
    #expect(chmod(own, 0o777) == 0)
    #expect(link.make() == nil)

    #expect(rmdir(own) == 0)
    #expect(symlink(directory.path.string, own) == 0)
    #expect(link.make() == nil)
  }

  @Test(arguments: [(nil, "/tmp"), ("", "/tmp"), ("/a b", "/tmp"), ("/var/tmp", "/var/tmp")])
  func linksAreKeptWhereTheLoaderFindsThem(variable: String?, folder: FilePath) {
    #expect(PreloadLink(library: "/a b.so", temporaryDirectory: variable).folder == folder)
  }

  @Test func plainPathsNeedNoLink() {
    #expect(PreloadLink.isPreloadable("/usr/lib/memtrace/libmemtrace.so"))
    for path in ["/a b/x.so", "/a:b/x.so", "/$ORIGIN/x.so"] {
      #expect(!PreloadLink.isPreloadable(FilePath(path)))
    }
  }

  private func file(_ name: String) throws -> FilePath {
    let path = directory.path.appending(name)
    let descriptor = try FileDescriptor.open(
      path, .writeOnly, options: .create, permissions: .ownerReadWrite)
    try descriptor.close()
    return path
  }
}

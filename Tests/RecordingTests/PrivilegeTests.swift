import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Programs that gain rights when a recorded process executes them: the loader preloads nothing into them.
@Suite(.enabled(if: HostTests.isRoot, "only root may make programs that gain rights"))
struct PrivilegeTests {
  static let other: uid_t = 65534
  /// Whether a process of another user could load the recorder.
  static let isReadableByAll: Bool = {
    var path = FilePath(BuiltProducts.library.string)
    var status = stat()
    var isReadable = stat(path.string, &status) == 0 && status.st_mode & S_IROTH != 0
    while path.removeLastComponent() {
      isReadable = isReadable && stat(path.string, &status) == 0 && status.st_mode & S_IXOTH != 0
    }
    return isReadable
  }()

  /// Gives a file a capability, as `setcap` does.
  static func give(_ what: String, to path: String) throws -> Int32 {
    let starter = try TestProgram("gains_rights.c").path.string
    return try ProcessRun.run([starter, what, path]).status ?? -1
  }

  /// A program that a child of a recorded one executes, after it has done what `way` says.
  struct Case {
    let program: FilePath
    let run: TracedRun

    init(way: String, _ prepare: (String) throws -> Int32) throws {
      let folder = try ScratchDirectory()
      program = folder.path.appending("program")
      let copied = try ProcessRun.run([
        "/bin/cp", try TestProgram("table.c").path.string, program.string,
      ])
      try #require(copied.status == 0)
      try #require(prepare(program.string) == 0)
      let starter = try TestProgram("gains_rights.c").path.string
      run = try TracedRun(
        [starter, way, program.string], shell: "chmod 777 . \(folder.path)")
      #expect(run.plain.outputText == "child 0\n")
    }

    /// Why it was not recorded.
    func reasons() throws -> [String] {
      try run.allTraces().flatMap(\.coverage.childrenNotFollowed)
        .map { String($0.dropFirst("\(program): ".count)) }
    }

    /// How many recordings there are of it.
    func recordings() throws -> Int {
      try run.allTraces().filter { $0.process.executablePath == program.string }.count
    }
  }

  @Test(
    arguments: [
      ("it changes the user when it starts (setuid)", other, 0, 0o4755),
      ("it changes the group when it starts (setgid)", 0, other, 0o2755),
    ] as [(String, uid_t, gid_t, mode_t)])
  func aChildThatBecomesAnotherIsNoted(change: String, user: uid_t, group: gid_t, mode: mode_t)
    throws
  {
    let child = try Case(way: "none") { path in chown(path, user, group) + chmod(path, mode) }
    #expect(try child.recordings() == 0)
    #expect(try child.reasons() == ["\(change), and then preloaded libraries are ignored"])
  }

  /// As `sudo` is installed by some distributions.
  @Test(.enabled(if: isReadableByAll, "another user may not read the recorder"))
  func aChildThatMayOnlyBeExecutedIsNoted() throws {
    let child = try Case(way: "user") { chmod($0, 0o4711) }
    #expect(try child.recordings() == 0)
    #expect(
      try child.reasons() == [
        "it changes the user when it starts (setuid), and then preloaded libraries are ignored"
      ])
  }

  @Test(.enabled(if: isReadableByAll, "another user may not read the recorder"))
  func aChildThatGainsCapabilitiesIsNoted() throws {
    let child = try Case(way: "user") { try Self.give("capable", to: $0) }
    #expect(try child.recordings() == 0)
    #expect(
      try child.reasons() == [
        "it gains capabilities when it starts, and then preloaded libraries are ignored"
      ])
  }

  @Test(.enabled(if: isReadableByAll, "another user may not read the recorder"))
  func aChildOfAnotherEffectiveUserIsNoted() throws {
    let child = try Case(way: "effective") { chmod($0, 0o755) }
    #expect(try child.recordings() == 0)
    #expect(
      try child.reasons() == [
        "run by another effective user or group than the real one, for which preloaded "
          + "libraries are ignored"
      ])
  }

  /// As `setpriv` starts it: what could read the recorder before the program begins cannot afterwards.
  @Test(arguments: ["user", "keep"])
  func aUserWhoMayNotReadTheRecorderIsLeftAlone(way: String) throws {
    let (folder, traces) = try (ScratchDirectory(), ScratchDirectory())
    let library = folder.path.appending("libmemtrace.so")
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c",
        "cp \"$0\" \"$1\"; chmod 700 .; chmod 777 \"$2\"; LD_PRELOAD=$1 exec \"$3\" $4 /bin/true",
        BuiltProducts.library.string, library.string, traces.path.string,
        try TestProgram("gains_rights.c").path.string, way,
      ],
      environment: TracedRun.minimalEnvironment + [
        "MEMTRACE_OUTPUT=\(traces.path.appending("root.mtrace"))"
      ], directory: folder.path)

    #expect(run.outputText == "child 0\n")
    #expect(run.errorText.isEmpty)
    let notes = try traces.entries.filter { $0.hasSuffix(".mtrace") }
      .flatMap { try Trace(path: traces.path.appending($0)).coverage.childrenNotFollowed }
    #expect(
      notes == [
        "/bin/true: libmemtrace.so cannot be read where it runs (chroot, mount namespace, user)"
      ])
  }

  @Test func whatGainsNothingIsRecorded() throws {
    let ofItsOwnUser = try Case(way: "none") { chmod($0, 0o4755) }
    #expect(try ofItsOwnUser.recordings() == 1)
    let withoutGain = try Case(way: "no-new") { path in
      chown(path, Self.other, 0) + chmod(path, 0o4755)
    }
    #expect(try withoutGain.recordings() == 1)
    #expect(try ofItsOwnUser.reasons().isEmpty && withoutGain.reasons().isEmpty)
  }

  @Test(.enabled(if: isReadableByAll, "another user may not read the recorder"))
  func capabilitiesThatAreInheritedOnlyAreNoGain() throws {
    let child = try Case(way: "user") { try Self.give("inheriting", to: $0) }
    #expect(try child.recordings() == 1)
    #expect(try child.reasons().isEmpty)
  }
}

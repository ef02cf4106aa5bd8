import Reports

/// Programs that build and start what is to be checked: `swift test` runs compilers, linkers and git
/// before it runs the tests; and those of ``SystemUtilities``, which the recorder does record: it
/// knows programs to go past by their names only.
///
/// Their leaks are nobody's business here, so that they are listed and neither recorded nor held to
/// the rules, unless `--process` names programs; the command itself is where nothing else ran. Only
/// names that no program of a project has by chance: what is left out by mistake is not checked.
public enum ToolPrograms {
  /// By name, and by path where they hold a `/`; `*` stands for other text.
  static let patterns = [
    // Swift's; manifests and plugins of packages are compiled into programs, too.
    "swift", "swiftc", "swift-build", "swift-build-tool", "swift-autolink-extract", "swift-driver",
    "swift-frontend", "swift-help", "swift-package", "swift-plugin-server", "swift-run",
    "swift-sdk", "swift-symbolgraph-extract", "swift-test", "*/TemporaryDirectory.*/*-manifest",
    "*/.build/plugins/*",
    // What prints the stacks of a crash: tests crash on purpose.
    "swift-backtrace", "swift-backtrace-static",
    // Go's: its name alone might be a project's.
    "*/go*/bin/go", "/usr/bin/go", "/usr/local/bin/go", "*/pkg/tool/linux_*/*",
    // Drivers of builds and tests.
    "cargo", "cargo-nextest", "cmake", "ctest", "gmake", "make", "meson", "ninja", "pkg-config",
    "pkgconf", "rustdoc", "rustup",
    // Compilers and linkers.
    "ar", "as", "c++", "cc", "cc1", "cc1plus", "clang", "clang++", "clang-??", "collect2", "g++",
    "g++-??", "gcc", "gcc-??", "gold", "ld", "ld.bfd", "ld.gold", "ld.lld", "ld64.lld", "lld",
    "lto1", "mold", "rust-lld",
    "lto-wrapper", "ranlib", "rustc", "strip", "x86_64-linux-gnu-*", "aarch64-linux-gnu-*",
    // Version control.
    "git", "git-remote-https",
  ]

  /// Those that go by their names, as the recorder takes them: `MEMTRACE_SKIP`.
  public static var namesForRecorder: String {
    patterns.filter { !$0.contains("/") }.joined(separator: ",")
  }

  /// Whether a program is one of these.
  static func contains(_ executable: String) -> Bool {
    reason(executable) != nil
  }

  /// Why a program is left out; nil for one that is checked.
  static func reason(_ executable: String) -> String? {
    if SystemUtilities.contains(executable) { return "a utility of the system" }
    let isTool = Glob.matchesAny(executable: executable, patterns)
    return isTool ? "it builds or starts what is checked" : nil
  }
}

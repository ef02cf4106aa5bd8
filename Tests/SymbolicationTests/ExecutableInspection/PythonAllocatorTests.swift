import Symbolication
import Testing

@Suite("The allocator of Python's objects")
struct PythonAllocatorTests {
  @Test("is malloc when the variable says so", arguments: ["malloc", "malloc_debug"])
  func variable(setting: String) {
    #expect(PythonAllocator.isMalloc(setting: setting, arguments: ["python3", "x.py", "-E"]))
  }

  @Test(
    "is Python's own otherwise", arguments: [nil, "", "default", "debug", "pymalloc", "mimalloc"])
  func own(setting: String?) {
    #expect(
      !PythonAllocator.isMalloc(setting: setting, arguments: ["python3", "-X", "dev", "x.py"]))
  }

  @Test(
    "is Python's own where variables are not looked at",
    arguments: [
      ["-E"], ["-I"], ["-sE"], ["-X", "dev", "-I", "x.py"], ["-Xdev", "-bE"], ["-bW", "all", "-E"],
      ["--check-hash-based-pycs", "never", "-E"],
    ])
  func ignored(options: [String]) {
    #expect(!PythonAllocator.isMalloc(setting: "malloc", arguments: ["python3"] + options))
  }

  @Test(
    "may be malloc whatever the arguments of the script are",
    arguments: [
      [], ["-", "-E"], ["x.py", "-I"], ["-c", "pass", "-E"], ["-mtimeit", "-E"], ["-cE"],
      ["-W", "E"],
      ["-WE"], ["--version", "-E"],
    ])
  func scripts(arguments: [String]) {
    #expect(PythonAllocator.isMalloc(setting: "malloc", arguments: ["python3"] + arguments))
  }
}

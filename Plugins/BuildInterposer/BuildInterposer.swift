import Foundation
import PackagePlugin

/// Links `libmemtrace.so` with clang alone.
///
/// SwiftPM links a dynamic product with `swiftc`, which makes it need `libswiftCore.so`; a library
/// that is preloaded into any process must need `libc` only. The result becomes a resource of the
/// `memtrace` target, so that a plain `swift build` puts it beside the executable.
@main
struct BuildInterposer: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let package = context.package.directoryURL
    let sources = package.appending(path: "Sources/CInterpose")
    let format = package.appending(path: "Sources/CTraceFormat/include")
    let exports = sources.appending(path: "exports.map")
    let output = context.pluginWorkDirectoryURL.appending(path: "libmemtrace.so")

    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
      .map { sources.appending(path: $0) }
    let formatHeaders = try FileManager.default.contentsOfDirectory(
      at: format, includingPropertiesForKeys: nil)
    let units = files.filter { $0.pathExtension == "c" }
    let inputs = files.filter { ["c", "h", "map"].contains($0.pathExtension) }

    let flags = [
      "-shared", "-fPIC", "-O2", "-g", "-std=gnu11",
      "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes",
      "-fvisibility=hidden", "-ftls-model=initial-exec", "-fno-plt", "-fno-builtin-malloc",
      "-fno-stack-protector", "-fno-strict-aliasing", "-fasynchronous-unwind-tables",
      "-DMT_EXPORT_HOOKS=1",
      "-I", format.path, "-I", sources.path,
      "-nostdlib++", "-Wl,-z,relro,-z,now", "-Wl,-z,nodelete",
      // Hooks see their caller's frame; but those that only decide and jump on need none of their own.
      "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer",
      // No vector registers: they are the host's, and a word just stored cannot be forwarded into one.
      "-mgeneral-regs-only",
      "-Wl,-z,defs",
      "-Wl,-soname,libmemtrace.so", "-Wl,--version-script=\(exports.path)",
    ]
    return [
      .buildCommand(
        displayName: "Linking libmemtrace.so",
        executable: try clang(),
        arguments: flags + units.map(\.path)
          + ["-Wl,--as-needed", "-ldl", "-lpthread", "-o", output.path],
        inputFiles: inputs + formatHeaders,
        outputFiles: [output])
    ]
  }

  /// The clang of the toolchain when it is on `PATH`, else the system's.
  private func clang() throws -> URL {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    for directory in path.split(separator: ":") {
      let candidate = URL(filePath: String(directory)).appending(path: "clang")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
    throw PluginError.clangNotFound
  }
}

enum PluginError: Error, CustomStringConvertible {
  case clangNotFound

  var description: String {
    "clang is not on PATH: libmemtrace.so is linked with it (it comes with the Swift toolchain)"
  }
}

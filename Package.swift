// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "memtrace",
  products: [
    .executable(name: "memtrace", targets: ["memtrace"]),
    // For recorded programs: marks and snapshots from within.
    .library(name: "Memtrace", targets: ["Memtrace"]),
    // For test targets: leaks are reported with the test that they come from.
    .library(name: "MemtraceTesting", targets: ["MemtraceTesting"]),
    .library(name: "TraceReader", targets: ["TraceReader"]),
    // For Benchmarks, which is a package of its own.
    .library(name: "TraceTestSupport", targets: ["TraceTestSupport"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/onevcat/Rainbow", from: "4.2.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // The byte format: one header for the recorder and the reader.
    .target(name: "CTraceFormat"),

    // The recorder, here without its exported hooks, for unit tests and editors. The real
    // libmemtrace.so is linked by the plugin below, because SwiftPM would add libswiftCore to it.
    .target(
      name: "CInterpose", dependencies: ["CTraceFormat"], exclude: ["exports.map"],
      publicHeadersPath: "."),
    .plugin(name: "BuildInterposer", capability: .buildTool()),

    // memtrace.h, and the same for Swift programs: weak symbols that the recorder defines.
    .target(name: "CMemtrace"),
    .target(name: "Memtrace", dependencies: ["CMemtrace"]),
    .target(name: "CMemtraceTesting"),
    .target(name: "MemtraceTesting", dependencies: ["Memtrace", "CMemtraceTesting"]),

    // Reading: bytes -> events -> live set, sites, errors. No symbols, no text.
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .target(name: "CProcessor"),
    .target(
      name: "TraceReader",
      dependencies: [
        "CTraceFormat", "CProcessor", "CZstd",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),

    // Snapshots -> what can be reached, leaks, cycles, who holds what. No symbols, no text.
    .target(name: "LeakAnalysis", dependencies: ["TraceReader"]),

    // Addresses -> names.
    .systemLibrary(name: "CLibDW", pkgConfig: "libdw", providers: [.apt(["libdw-dev"])]),
    .target(name: "CSymbolication", linkerSettings: [.linkedLibrary("iberty")]),
    .target(name: "Symbolication", dependencies: ["TraceReader", "CLibDW", "CSymbolication"]),

    // Groupings, hogs, call trees; tables, JSON, CSV.
    .target(
      name: "Reports", dependencies: ["TraceReader", "LeakAnalysis", "Symbolication", "Rainbow"]),

    // Rules, baselines, suppressions -> a verdict, in the forms that CI systems read.
    .target(
      name: "LeakGate",
      dependencies: ["TraceReader", "LeakAnalysis", "Symbolication", "Reports", "Yams"]),

    // Brings the recorder into a process that is running: where a thread may be given something
    // else to do, what it is to call there.
    .target(
      name: "CAttach", dependencies: ["CLibDW"], cSettings: [.headerSearchPath("../CInterpose")],
      linkerSettings: [.linkedLibrary("dw")]),
    .target(name: "Attaching", dependencies: ["CAttach", "CTraceFormat"]),

    // The command line: options, launching, exit statuses.
    .target(name: "CLaunch"),
    .executableTarget(
      name: "memtrace",
      dependencies: [
        "CLaunch", "Attaching", "CTraceFormat", "TraceReader", "LeakAnalysis", "Symbolication",
        "Reports",
        "LeakGate",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      plugins: ["BuildInterposer"]),

    // Traces made by hand, traced runs, snapshots.
    .target(
      name: "TraceTestSupport",
      dependencies: [
        "TraceReader", "CTraceFormat", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "CInterposeTests",
      dependencies: ["CInterpose", "CTraceFormat", "TraceReader", "TraceTestSupport"]),
    .testTarget(
      name: "TraceReaderTests",
      dependencies: ["TraceReader", "TraceTestSupport", "CTraceFormat", "CZstd"]),
    .testTarget(name: "AttachingTests", dependencies: ["Attaching"]),
    .testTarget(
      name: "LeakAnalysisTests",
      dependencies: ["LeakAnalysis", "TraceTestSupport", "CTraceFormat"]),
    .testTarget(
      name: "SymbolicationTests", dependencies: ["Symbolication", "TraceTestSupport"],
      exclude: ["Programs"]),
    .testTarget(
      name: "ReportsTests", dependencies: ["Reports", "LeakAnalysis", "TraceTestSupport"],
      exclude: ["Snapshots"]),
    .testTarget(name: "LeakGateTests", dependencies: ["LeakGate", "TraceTestSupport"]),
    .testTarget(
      name: "MemtraceCommandTests", dependencies: ["memtrace", "TraceTestSupport"],
      exclude: ["Snapshots"]),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        "memtrace", "Memtrace", "TraceReader", "LeakAnalysis", "Symbolication", "Reports",
        "TraceTestSupport",
      ],
      exclude: ["Programs"]),
  ],
  swiftLanguageModes: [.v6]
)

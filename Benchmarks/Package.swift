// swift-tools-version: 6.1
import PackageDescription

// Measurements, kept out of the main package so that its build stays short.
//
//   swift run -c release --package-path Benchmarks ReaderBenchmark --events 20000000
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "memtrace", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    .executableTarget(
      name: "ReaderBenchmark",
      dependencies: [
        .product(name: "TraceReader", package: "memtrace"),
        .product(name: "TraceTestSupport", package: "memtrace"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

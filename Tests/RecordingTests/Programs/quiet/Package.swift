// swift-tools-version: 6.1
// Leaks nothing, with Foundation and SwiftNIO at work: SwiftTestTests demands that nothing is found.
import PackageDescription

let package = Package(
  name: "Quiet",
  dependencies: [
    .package(name: "memtrace", path: "MEMTRACE"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .testTarget(
      name: "QuietTests",
      dependencies: [
        .product(name: "MemtraceTesting", package: "memtrace"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ]
)

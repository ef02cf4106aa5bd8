// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "Shelf",
  dependencies: [
    // Elsewhere: .package(url: "https://…/memtrace", from: "…")
    .package(name: "memtrace", path: "../..")
  ],
  targets: [
    .target(name: "Shelf"),
    .testTarget(
      name: "ShelfTests",
      dependencies: ["Shelf", .product(name: "MemtraceTesting", package: "memtrace")]),
  ]
)

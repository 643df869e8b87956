// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "swift-http-cache",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
    .library(name: "HTTPCacheURLSession", targets: ["HTTPCacheURLSession"]),
    .library(name: "HTTPCacheSemantics", targets: ["HTTPCacheSemantics"]),
    .library(name: "HTTPCacheStore", targets: ["HTTPCacheStore"]),
    .library(name: "HTTPCacheDisk", targets: ["HTTPCacheDisk"]),
    .library(name: "HTTPCacheTesting", targets: ["HTTPCacheTesting"]),
    .library(name: "HTTPCacheFaults", targets: ["HTTPCacheFaults"]),
  ],
  traits: [
    .trait(
      name: "Crypto",
      description: "HMAC of secret request fields that Vary nominates, digests for QUERY (swift-crypto)"),
    .default(enabledTraits: ["Crypto"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CSystemShims"),
    .target(
      name: "HTTPCacheSemantics",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheStore",
      dependencies: [
        "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheDisk",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics", "CSQLite", "CSystemShims",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCaching",
      dependencies: [
        "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheDisk",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheURLSession",
      dependencies: [
        "HTTPCaching",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheTesting",
      dependencies: [
        "HTTPCaching", "HTTPCacheStore", "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    // Stands in for the C library's file calls, so it is a product of its own: who does not ask for it
    // does not get it.
    .target(name: "CSystemFaults"),
    .target(
      name: "HTTPCacheFaults",
      dependencies: ["HTTPCacheTesting", "HTTPCacheStore", "CSystemFaults"],
      swiftSettings: settings),
    // In no product: kills, crashes, power losses and corruptions of the store on disk.
    .executableTarget(
      name: "cache-torture",
      dependencies: [
        "HTTPCacheFaults", "HTTPCacheTesting", "HTTPCacheDisk", "HTTPCacheStore",
        "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Torture", swiftSettings: settings),
    // In no product: what fuzzing, the generated header sets and the tests of both have in common.
    .target(
      name: "HTTPCacheFuzzing",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Fuzzing/Sources/HTTPCacheFuzzing", swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheSemanticsTests",
      dependencies: [
        "HTTPCacheSemantics", "HTTPCacheFuzzing",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheStoreTests",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheDiskTests",
      dependencies: [
        "HTTPCacheDisk", "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheTesting",
        "HTTPCacheFaults", "CSQLite",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      resources: [.copy("Fixtures")],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCachingTests",
      dependencies: [
        "HTTPCaching", "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheURLSessionTests",
      dependencies: [
        "HTTPCacheURLSession", "HTTPCaching", "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheTestingTests",
      dependencies: [
        "HTTPCacheTesting", "HTTPCacheFaults", "HTTPCaching", "HTTPCacheStore",
        "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// For the modules on the way of a request: their asynchronous functions run where their caller runs. What apps call is
/// `@concurrent`, so that nothing of it runs on the main actor (docs/concurrency.md).
let engineSettings = settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
  name: "swift-http-cache",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
    .library(name: "HTTPCacheURLSession", targets: ["HTTPCacheURLSession"]),
    .library(name: "HTTPCacheDownloads", targets: ["HTTPCacheDownloads"]),
    .library(name: "HTTPCacheArchives", targets: ["HTTPCacheArchives"]),
    .library(name: "HTTPCacheImages", targets: ["HTTPCacheImages"]),
    .library(name: "HTTPCacheAsyncHTTPClient", targets: ["HTTPCacheAsyncHTTPClient"]),
    .library(name: "HTTPCacheHummingbird", targets: ["HTTPCacheHummingbird"]),
    .library(name: "HTTPCacheLogging", targets: ["HTTPCacheLogging"]),
    .library(name: "HTTPCacheTracing", targets: ["HTTPCacheTracing"]),
    .library(name: "HTTPCacheRedis", targets: ["HTTPCacheRedis"]),
    .library(name: "HTTPCacheSemantics", targets: ["HTTPCacheSemantics"]),
    .library(name: "HTTPCacheStore", targets: ["HTTPCacheStore"]),
    .library(name: "HTTPCacheSealing", targets: ["HTTPCacheSealing"]),
    .library(name: "HTTPCacheDisk", targets: ["HTTPCacheDisk"]),
    .library(name: "HTTPCacheTesting", targets: ["HTTPCacheTesting"]),
    .library(name: "HTTPCacheTestTraits", targets: ["HTTPCacheTestTraits"]),
    .library(name: "HTTPCacheFaults", targets: ["HTTPCacheFaults"]),
    // For the packages of this repository.
    .library(name: "HTTPCacheLibC", targets: ["HTTPCacheLibC"]),
  ],
  traits: [
    .trait(
      name: "Crypto",
      description:
        "HMAC of secret request fields that Vary nominates, digests for QUERY, encryption at rest (swift-crypto)"
    ),
    .trait(
      name: "AsyncHTTPClient",
      description: "HTTPCacheAsyncHTTPClient: a cache in front of async-http-client"),
    .trait(
      name: "Hummingbird",
      description: "HTTPCacheHummingbird: middleware that caches the responses of a Hummingbird server"),
    .trait(name: "Logging", description: "HTTPCacheLogging: what happens in the cache, to swift-log"),
    .trait(
      name: "Tracing",
      description: "HTTPCacheTracing: a span for each request to the origin (swift-distributed-tracing)"),
    .trait(
      name: "Redis",
      description: "HTTPCacheRedis: a tier on Redis or Valkey that the caches of several nodes share"),
    .trait(
      name: "ImageCodecs",
      description:
        "JPEG, PNG, WebP, GIF, AVIF and HEIC for HTTPCacheImages on Linux (libturbojpeg, libspng, libwebp, giflib and libheif of the system)"
    ),
    .default(enabledTraits: ["Crypto"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.11.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CSystemShims"),
    .target(name: "HTTPCacheLibC", swiftSettings: settings),
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
        "HTTPCacheSemantics", "HTTPCacheFiles", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: engineSettings),
    .target(
      name: "HTTPCacheSealing",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: engineSettings),
    .target(
      name: "HTTPCacheFiles", dependencies: ["HTTPCacheLibC", "CSystemShims"], swiftSettings: settings),
    .target(
      name: "HTTPCacheDisk",
      dependencies: [
        "HTTPCacheFiles", "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheLibC", "CSQLite", "CSystemShims",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: engineSettings),
    .target(
      name: "HTTPCaching",
      dependencies: [
        "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheSealing", "HTTPCacheDisk", "HTTPCacheFiles",
        "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      swiftSettings: engineSettings),
    .target(
      name: "HTTPCacheURLSession",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheDownloads", "HTTPCacheFiles",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheDownloads",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheSealing", "HTTPCacheFiles",
        "HTTPCacheLibC", "CSystemShims",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .target(
      name: "HTTPCacheArchives",
      dependencies: [
        "HTTPCaching", "HTTPCacheFiles", "HTTPCacheStore", "HTTPCacheSemantics",
        "HTTPCacheLibC", "CZlib",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    // Without pkg-config, so that a system without these libraries builds everything else without a warning.
    .systemLibrary(name: "CTurboJPEG"),
    .systemLibrary(name: "CSpng"),
    .systemLibrary(name: "CWebP"),
    .systemLibrary(name: "CGif"),
    .systemLibrary(name: "CHeif"),
    .target(
      name: "HTTPCacheImages",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheFiles", "HTTPCacheLibC",
        .target(name: "CTurboJPEG", condition: .when(traits: ["ImageCodecs"])),
        .target(name: "CSpng", condition: .when(traits: ["ImageCodecs"])),
        .target(name: "CWebP", condition: .when(traits: ["ImageCodecs"])),
        .target(name: "CGif", condition: .when(traits: ["ImageCodecs"])),
        .target(name: "CHeif", condition: .when(traits: ["ImageCodecs"])),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    // In no product: bodies as NIO's buffers, for the doors that stand on NIO.
    .target(
      name: "HTTPCacheNIO",
      dependencies: [
        "HTTPCaching",
        .product(
          name: "NIOCore", package: "swift-nio",
          condition: .when(traits: ["AsyncHTTPClient", "Hummingbird"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheAsyncHTTPClient",
      dependencies: [
        "HTTPCaching", "HTTPCacheNIO", "HTTPCacheSemantics", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHPACK", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheHummingbird",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheNIO",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(
          name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Hummingbird"])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Hummingbird"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Hummingbird"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheLogging",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheTracing",
      dependencies: [
        "HTTPCaching",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(
          name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheRedis",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheSealing", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Redis"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Redis"])),
      ],
      swiftSettings: settings),
    .target(
      name: "HTTPCacheTesting",
      dependencies: [
        "HTTPCaching", "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheFiles", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    // Apart from HTTPCacheTesting, which programs may use that have no tests.
    .target(
      name: "HTTPCacheTestTraits", dependencies: ["HTTPCacheArchives", "HTTPCaching", "HTTPCacheStore"],
      swiftSettings: settings),
    // Stands in for the C library's file calls, so it is a product of its own: who does not ask for it
    // does not get it.
    .target(name: "CSystemFaults"),
    .target(
      name: "HTTPCacheFaults",
      dependencies: [
        "HTTPCacheTesting", "HTTPCacheStore", "HTTPCacheFiles", "HTTPCacheLibC", "CSystemFaults",
      ],
      swiftSettings: settings),
    // In no product: kills, crashes, power losses and corruptions of the store on disk.
    .executableTarget(
      name: "cache-torture",
      dependencies: [
        "HTTPCacheFaults", "HTTPCacheTesting", "HTTPCaching", "HTTPCacheDisk", "HTTPCacheSealing",
        "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Torture", swiftSettings: settings),
    // In no product: what fuzzing, the generated header sets and the tests of both have in common.
    .target(
      name: "HTTPCacheFuzzing",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Fuzzing/Sources/HTTPCacheFuzzing", swiftSettings: settings),
    // In no product: a world of clients, processes and an origin, whose every step a seed chooses.
    .target(
      name: "HTTPCacheSimulation",
      dependencies: [
        "HTTPCaching", "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheTesting", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Simulation/World", swiftSettings: settings),
    .executableTarget(
      name: "simulate-races", dependencies: ["HTTPCacheSimulation", "HTTPCacheLibC"],
      path: "Simulation/Command", swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheSemanticsTests",
      dependencies: [
        "HTTPCacheSemantics", "HTTPCacheFuzzing", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheStoreTests",
      dependencies: [
        "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheTesting", "HTTPCacheFiles", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    // In no product: directories of encrypted stores, for the tests of the stores and of the engine.
    .target(
      name: "SealingTesting",
      dependencies: ["HTTPCacheSealing", "HTTPCacheStore", "HTTPCacheTesting", "HTTPCaching"],
      path: "Tests/SealingTesting", swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheSealingTests",
      dependencies: [
        "HTTPCacheSealing", "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheTesting",
        "SealingTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheDiskTests",
      dependencies: [
        "HTTPCacheDisk", "HTTPCacheFiles", "HTTPCacheStore", "HTTPCacheSemantics", "HTTPCacheTesting",
        "HTTPCacheFaults", "HTTPCacheLibC", "CSQLite",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      resources: [.copy("Fixtures")],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCachingTests",
      dependencies: [
        "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheSealing", "HTTPCacheTesting",
        "SealingTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheURLSessionTests",
      dependencies: [
        "HTTPCacheURLSession", "HTTPCacheDownloads", "HTTPCacheArchives", "HTTPCaching", "HTTPCacheSemantics",
        "HTTPCacheTesting", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      exclude: ["Recordings"], swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheDownloadsTests",
      dependencies: [
        "HTTPCacheDownloads", "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheFiles",
        "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheArchivesTests",
      dependencies: [
        "HTTPCacheArchives", "HTTPCacheTestTraits", "HTTPCaching", "HTTPCacheFiles", "HTTPCacheStore",
        "HTTPCacheSemantics", "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      exclude: ["Recordings"], swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheImagesTests",
      dependencies: [
        "HTTPCacheImages", "HTTPCaching", "HTTPCacheSemantics", "HTTPCacheStore", "HTTPCacheFiles",
        "HTTPCacheTesting",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      resources: [.copy("Fixtures")],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheSimulationTests",
      dependencies: ["HTTPCacheSimulation", "HTTPCacheTesting", "HTTPCaching", "simulate-races"],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheTestingTests",
      dependencies: [
        "HTTPCacheTesting", "HTTPCacheFaults", "HTTPCaching", "HTTPCacheSealing", "HTTPCacheStore",
        "HTTPCacheSemantics", "HTTPCacheLibC",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

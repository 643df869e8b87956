// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

let libC: Target.Dependency = .product(name: "HTTPCacheLibC", package: "swift-http-cache")

let caching: [Target.Dependency] = [
  libC,
  .product(name: "HTTPCaching", package: "swift-http-cache"),
  .product(name: "HTTPCacheSemantics", package: "swift-http-cache"),
  .product(name: "HTTPCacheStore", package: "swift-http-cache"),
  .product(name: "HTTPCacheDisk", package: "swift-http-cache"),
  .product(name: "HTTPTypes", package: "swift-http-types"),
]

// One executable; each file in Suites is a group of rows, so that stores and disks come beside the
// decisions. It counts allocations by standing in for malloc, which it exports for that.
let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "Sealing", description: "sealing-benchmark, which needs swift-crypto"),
    .trait(name: "AsyncHTTPClient", description: "the rows of CachedHTTPClient in door-benchmark"),
    .trait(name: "Hummingbird", description: "the rows of CacheMiddleware in door-benchmark"),
    .trait(name: "Redis", description: "redis-tier-benchmark, which needs SwiftNIO"),
    .trait(name: "NIO", description: "nio-proxy, the floor of bench-serve"),
    .trait(
      name: "ImageCodecs", description: "image-benchmark, which needs the image libraries of the system"),
    .default(enabledTraits: ["Sealing"]),
  ],
  dependencies: [
    // cache-benchmarks uses nothing of swift-crypto, whose BoringSSL takes long to build.
    .package(
      name: "swift-http-cache", path: "..",
      traits: [
        .trait(name: "Crypto", condition: .when(traits: ["Sealing"])),
        .trait(name: "AsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"])),
        .trait(name: "Hummingbird", condition: .when(traits: ["Hummingbird"])),
        .trait(name: "Redis", condition: .when(traits: ["Redis"])),
        .trait(name: "ImageCodecs", condition: .when(traits: ["ImageCodecs"])),
      ]),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .target(name: "CAllocationCount"),
    // SQLite alone, the peer of the disk store.
    .systemLibrary(name: "CRawSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "cache-benchmarks", dependencies: caching + ["CAllocationCount", "CRawSQLite"],
      path: "Sources/Benchmarks",
      swiftSettings: settings),
    // Sources/Simulator/Policy links to the policy's own files: a nested package cannot see what is
    // internal to a module, and a copy would be another policy.
    .executableTarget(
      name: "session-memory",
      dependencies: [
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
        .product(name: "HTTPCaching", package: "swift-http-cache"),
      ], path: "Sources/SessionMemory", swiftSettings: settings),
    .executableTarget(
      name: "cache-peer",
      dependencies: caching + [
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache")
      ], path: "Sources/CachePeer", swiftSettings: settings),
    .executableTarget(
      name: "door-benchmark",
      dependencies: [
        "CAllocationCount",
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(
          name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache",
          condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "HTTPCacheHummingbird", package: "swift-http-cache",
          condition: .when(traits: ["Hummingbird"])),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
        .product(
          name: "NIOCore", package: "swift-nio",
          condition: .when(traits: ["AsyncHTTPClient", "Hummingbird"])),
        .product(
          name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Hummingbird"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Hummingbird"])),
      ], path: "Sources/Doors", swiftSettings: settings),
    .executableTarget(
      name: "image-benchmark",
      dependencies: [
        .product(name: "HTTPCacheImages", package: "swift-http-cache"),
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ], path: "Sources/Images", swiftSettings: settings),
    .executableTarget(
      name: "redis-tier-benchmark",
      dependencies: [
        .product(name: "HTTPCacheRedis", package: "swift-http-cache", condition: .when(traits: ["Redis"])),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPCacheSemantics", package: "swift-http-cache"),
        .product(name: "HTTPCacheStore", package: "swift-http-cache"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ], path: "Sources/Redis", swiftSettings: settings),
    .executableTarget(
      name: "nio-proxy",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["NIO"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["NIO"])),
      ], path: "Sources/NIOProxy", swiftSettings: settings),
    .executableTarget(
      name: "sealing-benchmark",
      dependencies: caching + [
        .product(name: "HTTPCacheSealing", package: "swift-http-cache")
      ], path: "Sources/Sealing", swiftSettings: settings),
    .executableTarget(
      name: "cache-simulator", dependencies: [libC], path: "Sources/Simulator", swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

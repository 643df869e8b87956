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
  .product(name: "HTTPCacheSealing", package: "swift-http-cache"),
  .product(name: "HTTPCacheDisk", package: "swift-http-cache"),
  .product(name: "HTTPTypes", package: "swift-http-types"),
]

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOHTTP1", package: "swift-nio"),
  .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
  .product(name: "NIOTLS", package: "swift-nio"),
  .product(name: "NIOSSL", package: "swift-nio-ssl"),
  .product(name: "NIOHTTP2", package: "swift-nio-http2"),
  .product(name: "NIOHPACK", package: "swift-nio-http2"),
  .product(name: "Logging", package: "swift-log"),
]

let session: [Target.Dependency] = [
  .product(name: "HTTPCaching", package: "swift-http-cache"),
  .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
]

// Given by `make build`. Asked of git here, it would be out of date: SwiftPM caches what a manifest says.
let commit = Context.environment["HTTPCACHE_COMMIT"] ?? ""

let package = Package(
  name: "httpcache",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "httpcache", targets: ["httpcache"])],
  traits: [
    .trait(
      name: "URLSessionDoors",
      description: "httpcache drive --door urlsession and urlprotocol, which need FoundationNetworking"),
    .default(enabledTraits: ["URLSessionDoors"]),
  ],
  dependencies: [
    .package(
      name: "swift-http-cache", path: "..",
      traits: ["Crypto", "AsyncHTTPClient", "Hummingbird", "ImageCodecs", "Logging", "Redis", "Tracing"]),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.11.0"),
  ],
  targets: [
    // In C, so that another commit compiles this file again and nothing else.
    .target(name: "CBuildCommit", cSettings: [.define("HTTPCACHE_COMMIT", to: "\"\(commit)\"")]),
    // Without pkg-config: SwiftPM would warn where it is missing.
    .systemLibrary(name: "CBrotli", providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .target(
      name: "HTTPCacheProxy", dependencies: caching + nio,
      // Its asynchronous functions run where their caller runs: on an event loop.
      swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .target(
      name: "HTTPCacheCommand",
      dependencies: caching + nio + [
        "CBuildCommit", "CBrotli", "CZstd", "HTTPCacheProxy",
        .product(name: "HTTPCacheArchives", package: "swift-http-cache"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "HTTPCacheDownloads", package: "swift-http-cache"),
        .product(name: "HTTPCacheImages", package: "swift-http-cache"),
        .product(name: "HTTPCacheRedis", package: "swift-http-cache"),
        .product(
          name: "HTTPCacheURLSession", package: "swift-http-cache",
          condition: .when(traits: ["URLSessionDoors"])),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ],
      // In the code, so that the executable is all that is installed.
      resources: [
        .embedInCode("Serve/Admin/Dashboard/dashboard.html"),
        .embedInCode("Serve/Admin/Dashboard/dashboard.css"),
        .embedInCode("Serve/Admin/Dashboard/dashboard.js"),
      ],
      swiftSettings: settings),
    .executableTarget(name: "httpcache", dependencies: ["HTTPCacheCommand"], swiftSettings: settings),
    .executableTarget(
      name: "HTTPCacheExample",
      dependencies: [
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ServerExample",
      dependencies: [
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "HTTPCacheHummingbird", package: "swift-http-cache"),
        .product(name: "HTTPCacheLogging", package: "swift-http-cache"),
        .product(name: "HTTPCacheRedis", package: "swift-http-cache"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Examples/Server", swiftSettings: settings),
    .executableTarget(
      name: "OfflineNews", dependencies: session, path: "Examples/OfflineNews",
      swiftSettings: settings),
    .executableTarget(
      name: "APIClient", dependencies: session, path: "Examples/APIClient", swiftSettings: settings),
    .executableTarget(
      name: "ShippedContent",
      dependencies: session + [.product(name: "HTTPCacheArchives", package: "swift-http-cache")],
      path: "Examples/ShippedContent", swiftSettings: settings),
    .executableTarget(
      name: "LargeFile", dependencies: session, path: "Examples/LargeFile", swiftSettings: settings),
    .executableTarget(
      name: "Downloads",
      dependencies: session + [.product(name: "HTTPCacheDownloads", package: "swift-http-cache")],
      path: "Examples/Downloads", swiftSettings: settings),
    .executableTarget(
      name: "ContactSheet",
      dependencies: session + [.product(name: "HTTPCacheImages", package: "swift-http-cache")],
      path: "Examples/ContactSheet", swiftSettings: settings),
    .executableTarget(
      name: "ExampleOrigin",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Examples/ExampleOrigin", swiftSettings: settings),
    // The tests of the root package's modules that stand on NIO are here, where NIO is built anyway.
    .target(
      name: "ServerTesting",
      dependencies: nio + [
        libC,
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      path: "Tests/ServerTesting", swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheAsyncHTTPClientTests",
      dependencies: caching + nio + [
        "ServerTesting",
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    // Two doors together, which no module may be.
    .testTarget(
      name: "HTTPCacheTransportTests",
      dependencies: nio + [
        "ServerTesting",
        .product(name: "HTTPCaching", package: "swift-http-cache"),
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheHummingbirdTests",
      dependencies: caching + nio + [
        "ServerTesting",
        .product(name: "HTTPCacheHummingbird", package: "swift-http-cache"),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheLoggingTests",
      dependencies: caching + [
        .product(name: "HTTPCacheLogging", package: "swift-http-cache"),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheTracingTests",
      dependencies: caching + [
        .product(name: "HTTPCacheTracing", package: "swift-http-cache"),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheRedisTests",
      dependencies: caching + nio + [
        "ServerTesting",
        .product(name: "HTTPCacheRedis", package: "swift-http-cache"),
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheProxyTests",
      dependencies: caching + nio + [
        "HTTPCacheProxy", "ServerTesting", .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPCacheCommandTests",
      dependencies: caching + nio + [
        "HTTPCacheCommand", "ServerTesting", .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "HTTPCacheDownloads", package: "swift-http-cache"),
        .product(name: "HTTPCacheImages", package: "swift-http-cache"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// The Swift of the documentation, so that it compiles: scripts/lib.sh writes it.
if Context.environment["HTTPCACHE_SNIPPETS"] != nil {
  package.targets.append(
    .target(
      name: "HTTPCacheSnippets",
      dependencies: caching + [
        .product(name: "HTTPCacheTesting", package: "swift-http-cache"),
        .product(name: "HTTPCacheFaults", package: "swift-http-cache"),
        .product(name: "HTTPCacheURLSession", package: "swift-http-cache"),
        .product(name: "HTTPCacheDownloads", package: "swift-http-cache"),
        .product(name: "HTTPCacheArchives", package: "swift-http-cache"),
        .product(name: "HTTPCacheImages", package: "swift-http-cache"),
        .product(name: "HTTPCacheAsyncHTTPClient", package: "swift-http-cache"),
        .product(name: "HTTPCacheHummingbird", package: "swift-http-cache"),
        .product(name: "HTTPCacheLogging", package: "swift-http-cache"),
        .product(name: "HTTPCacheTracing", package: "swift-http-cache"),
        .product(name: "HTTPCacheRedis", package: "swift-http-cache"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: ".build/snippets"))
}

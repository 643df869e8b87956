import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting

/// Where responses are stored.
enum StoreChoice: CaseIterable, Sendable {
  case memory, disk, tiered, encrypted

  /// A store, and the same directory opened by another process; nil for memory.
  func make(in directory: SealedDirectory, _ clock: any CacheClock) throws -> (
    any CacheStore, (any CacheStore)?
  ) {
    let memory = MemoryStore(capacity: 16 << 20, clock: clock)
    if self == .memory { return (memory, nil) }
    let path = directory.newPath()
    func disk() throws -> DiskStore {
      try DiskStore.open(directory: path, capacity: 64 << 20, minimumFreeSpace: 0, clock: clock)
    }
    func sealed() throws -> SealedStore {
      let disk = try disk()
      return try SealedStore(base: disk, cipher: try SealedDirectory.cipher(of: disk.secret))
    }
    switch self {
    case .memory: return (memory, nil)
    case .disk: return (try disk(), try disk())
    case .tiered: return (TieredStore(memory: memory, base: try disk()), try disk())
    case .encrypted: return (TieredStore(memory: memory, base: try sealed()), try sealed())
    }
  }
}

/// How a resource changes.
enum ResourceChange: CaseIterable, Sendable {
  case unsafeMethod, invalidation, removal, removalByPrefix, removalOfAll, group, site
  case otherProcess, otherProcessByPrefix, otherProcessByPartition

  /// Whether the change comes from another process.
  var needsOtherProcess: Bool {
    switch self {
    case .otherProcess, .otherProcessByPrefix, .otherProcessByPartition: true
    default: false
    }
  }

  func make(_ cache: HTTPCache, _ other: (any CacheStore)?, via upstream: any Upstream) async throws {
    let url = "https://example.com/page"
    func send(_ method: HTTPRequest.Method, _ path: String) async throws {
      let response = try await cache.respond(
        to: HTTPRequest(method: method, scheme: "https", authority: "example.com", path: path),
        via: upstream)
      _ = try await response.body.collect()
    }
    switch self {
    case .unsafeMethod: try await send(.put, "/page")
    case .invalidation: try await cache.invalidate(.target(url))
    case .removal: try await cache.remove(.target(url))
    case .removalByPrefix: try await cache.remove(.prefix("https://example.com/p"))
    case .removalOfAll: try await cache.removeAll()
    case .group: try await send(.post, "/group")
    case .site: try await send(.get, "/logout")
    case .otherProcess: _ = try await other?.invalidate(.target(url))
    case .otherProcessByPrefix: _ = try await other?.remove(.prefix("https://example.com/"))
    case .otherProcessByPartition: _ = try await other?.remove(.partition(mode: .private, ""))
    }
  }
}

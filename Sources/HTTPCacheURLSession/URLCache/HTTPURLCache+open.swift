import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPURLCache {
  /// A path at which Foundation's own cache, which is not used, cannot make a directory.
  static var noPath: String? {
    #if canImport(FoundationNetworking)
      "/dev/null/none"
    #else
      nil
    #endif
  }

  /// Opens a cache, in memory if the directory cannot be used.
  static func open(memory: Int, disk: Int, path: String?, seeds: [any SeedSource] = []) -> HTTPCache {
    // Open both tiers if there is a disk, so that both capacities can be set later.
    var configuration = HTTPCache.Configuration(
      directory: disk > 0 ? path ?? defaultPath : nil, memoryCapacity: max(1, Int64(memory)),
      diskCapacity: max(0, Int64(disk)), seeds: seeds)
    let cache: HTTPCache
    do throws(CacheError) {
      cache = try HTTPCache.open(configuration)
    } catch {
      // A newer version made the directory: leave it alone.
      configuration.directory = nil
      cache = HTTPCache(
        configuration: configuration, store: MemoryStore(capacity: configuration.memoryCapacity))
    }
    if memory <= 0 { CallingThreadExecutor.wait { try? await cache.setCapacity(memory: 0) } }
    return cache
  }

  /// This program's directory in the user's folder for caches.
  private static var defaultPath: String? {
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
    let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    let name = String(program.map { "/\\:".contains($0) ? "_" : $0 })
    return caches?.appendingPathComponent(name).appendingPathComponent("HTTPURLCache").path
  }
}

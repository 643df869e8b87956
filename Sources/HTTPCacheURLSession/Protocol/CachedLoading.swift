import Foundation
import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The objects that the sessions of a configuration load with.
final class CachedLoading: Sendable {
  let session: CachedURLSession
  let settings: LoadSettings
  /// The maximum length in bytes of a body that is delivered in one piece.
  let bodyLimit: Int

  init(session: CachedURLSession, settings: LoadSettings, bodyLimit: Int) {
    self.session = session
    self.settings = settings
    self.bodyLimit = bodyLimit
  }

  /// Whether a request is loaded through the cache. Foundation itself loads all other requests: not HTTP,
  /// without a host, with a `Host` that differs from the URL, and upgrades.
  static func accepts(_ request: URLRequest) -> Bool {
    guard let converted = try? HTTPRequest(request) else { return false }
    return !converted.namesOtherHost && !converted.headerFields.contains(.upgrade)
      && converted.method != .connect
  }

  // MARK: The classes and their loadings

  private struct Registered {
    var loadings: [Int: CachedLoading] = [:]
    // Numbers are not reused: a session that outlives its cache must not find another cache.
    var next = 0
  }

  private static let registered = Mutex(Registered())

  /// Keeps a loading, and returns the class that finds it.
  static func register(_ loading: CachedLoading) -> CachingURLProtocol.Type {
    let number = registered.withLock { registered in
      registered.next += 1
      registered.loadings[registered.next] = loading
      return registered.next
    }
    return CachingURLProtocolInSlot<SlotZero>.ofNumber(number)
  }

  /// Releases the loading of a class.
  static func unregister(_ type: CachingURLProtocol.Type) {
    guard let slot = type.slot else { return }
    // Released outside of the lock.
    _ = registered.withLock { $0.loadings.removeValue(forKey: slot) }
  }

  /// The loading of a class; nil if it was released.
  static func of(_ type: CachingURLProtocol.Type) -> CachedLoading? {
    guard let slot = type.slot else { return nil }
    return registered.withLock { $0.loadings[slot] }
  }
}

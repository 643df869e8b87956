import Foundation
import HTTPCaching
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What the sessions of a configuration load with.
final class CachedLoading: Sendable {
  let session: CachedURLSession
  let settings: LoadSettings
  /// The most bytes that a body may have that has to be handed over in one piece.
  let bodyLimit: Int

  init(session: CachedURLSession, settings: LoadSettings, bodyLimit: Int) {
    self.session = session
    self.settings = settings
    self.bodyLimit = bodyLimit
  }

  /// Whether a request is loaded through the cache; everything else Foundation loads itself: what is
  /// not HTTP, what has no host, what names another host than its URL, and upgrades.
  static func accepts(_ request: URLRequest) -> Bool {
    guard let converted = try? HTTPRequest(request) else { return false }
    return !converted.namesOtherHost && !converted.headerFields.contains(.upgrade)
      && converted.method != .connect
  }

  // MARK: Which class has which

  private struct Registered {
    var loadings: [Int: CachedLoading] = [:]
    // Numbers are not used again: a session that outlives its cache must not find another one.
    var next = 0
  }

  private static let registered = Mutex(Registered())

  /// Keeps a loading, and gives the class that finds it.
  static func register(_ loading: CachedLoading) -> CachingURLProtocol.Type {
    let number = registered.withLock { registered in
      registered.next += 1
      registered.loadings[registered.next] = loading
      return registered.next
    }
    return CachingURLProtocolInSlot<SlotZero>.ofNumber(number)
  }

  /// Lets go of what a class finds.
  static func unregister(_ type: CachingURLProtocol.Type) {
    guard let slot = type.slot else { return }
    // Released outside of the lock.
    _ = registered.withLock { $0.loadings.removeValue(forKey: slot) }
  }

  /// What a class finds; nil if it was let go of.
  static func of(_ type: CachingURLProtocol.Type) -> CachedLoading? {
    guard let slot = type.slot else { return nil }
    return registered.withLock { $0.loadings[slot] }
  }
}

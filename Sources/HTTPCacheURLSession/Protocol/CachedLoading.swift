import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes
import Synchronization

/// The objects that the sessions of a configuration load with.
final class CachedLoading: Sendable {
  let session: CachedURLSession
  let settings: LoadSettings
  /// The maximum length in bytes of a body that is delivered in one piece.
  let bodyLimit: Int
  private let number: Int
  private let owner: Owner

  /// The attachments of the cache that keeps a loading.
  private struct Owner: Sendable {
    weak var attachments: Attachments?
  }

  /// Makes a loading that lives as long as a cache.
  ///
  /// - Parameter session: has a face of the cache of its own.
  init(session: CachedURLSession, settings: LoadSettings, bodyLimit: Int, keptBy attachments: Attachments) {
    self.session = session
    self.settings = settings
    self.bodyLimit = bodyLimit
    owner = Owner(attachments: attachments)
    number = Self.registered.withLock { registered in
      registered.next += 1
      return registered.next
    }
    Self.registered.withLock { $0.loadings[number] = Weak(loading: self) }
    attachments.add(self)
  }

  deinit { _ = Self.registered.withLock { $0.loadings.removeValue(forKey: number) } }

  /// The class that finds this loading.
  var type: CachingURLProtocol.Type { CachingURLProtocolInSlot<SlotZero>.ofNumber(number) }

  /// Whether a request is loaded through the cache. Foundation itself loads all other requests: not HTTP,
  /// without a host, with a `Host` that differs from the URL, and upgrades.
  static func accepts(_ request: URLRequest) -> Bool {
    guard let converted = try? HTTPRequest(request) else { return false }
    return !converted.namesOtherHost && !converted.headerFields.contains(.upgrade)
      && converted.method != .connect
  }

  // MARK: The classes and their loadings

  private struct Weak {
    weak var loading: CachedLoading?
  }

  private struct Registered {
    var loadings: [Int: Weak] = [:]
    // Numbers are not reused: a session that outlives its cache must not find another cache.
    var next = 0
  }

  private static let registered = Mutex(Registered())

  /// Releases the loading of a class.
  static func unregister(_ type: CachingURLProtocol.Type) {
    guard let slot = type.slot else { return }
    let removed = registered.withLock { $0.loadings.removeValue(forKey: slot)?.loading }
    if let removed { removed.owner.attachments?.remove(removed) }
  }

  /// The loading of a class; nil if it was released, or its cache was.
  static func of(_ type: CachingURLProtocol.Type) -> CachedLoading? {
    guard let slot = type.slot else { return nil }
    return registered.withLock { $0.loadings[slot]?.loading }
  }
}

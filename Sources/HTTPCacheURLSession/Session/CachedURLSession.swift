import Foundation
public import HTTPCaching
import Synchronization

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A session with Foundation's methods that loads through an HTTP cache (RFC 9111).
///
/// ```swift
/// let cache = try HTTPCache.open(.userCaches("com.example.app"))
/// let session = CachedURLSession(cache: cache)
/// let (data, response) = try await session.data(from: url)
/// print(response.cacheOutcome as Any)
/// ```
///
/// Cache policies of requests and of the configuration are honoured, all six. Redirects are followed
/// through the cache, at most 20. Cookies and the configuration's additional fields are added before
/// the cache looks, so that `Vary` may name them. Bodies are handed over without their content coding.
/// URLs of other schemes than `http` and `https` are passed on to Foundation and never cached.
///
/// Every method throws `URLError`, as Foundation's do: `cancelled` when the task was cancelled, a
/// delegate said so or the session was invalidated, `resourceUnavailable` where the origin may not be
/// asked and nothing stored will do. A cancelled request leaves the transfer to others who wait for it.
public final class CachedURLSession: Sendable {
  /// Where responses are kept.
  public let cache: HTTPCache
  /// What the session was made with.
  public let configuration: URLSessionConfiguration
  /// Who is asked where a task has no delegate of its own.
  public let delegate: (any URLSessionDelegate)?

  let upstream: URLSessionUpstream
  /// What the cache asks: `upstream`, or another in its place.
  let origin: any Upstream
  let cookies: CookieJar?
  private let isInvalidated = Mutex(false)
  private let files = Mutex<[CachedFile]>([])

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - cache: its cache; several sessions may share one.
  ///   - configuration: as for a `URLSession`; its `urlCache` is not used. In front of a shared cache
  ///     its credential storage is not used either.
  ///   - delegate: is asked about authentication challenges and redirects, is told of final responses
  ///     and may refuse them (`URLSessionDataDelegate`), of the progress of uploads, and of the end of
  ///     the session. What these methods are given as the session and the task are Foundation's, which
  ///     load from the origin.
  public convenience init(
    cache: HTTPCache, configuration: URLSessionConfiguration = .default,
    delegate: (any URLSessionDelegate)? = nil
  ) {
    self.init(cache: cache, configuration: configuration, delegate: delegate, via: nil)
  }

  /// Makes a session over an upstream; nil is Foundation's.
  init(
    cache: HTTPCache, configuration: URLSessionConfiguration,
    delegate: (any URLSessionDelegate)?, via origin: (any Upstream)?
  ) {
    self.cache = cache
    self.configuration = configuration
    self.delegate = delegate
    cookies = CookieJar(configuration)
    let inner = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    // The cache has to see them in the request.
    inner.httpAdditionalHeaders = nil
    if cache.configuration.rules.mode == .shared { inner.urlCredentialStorage = nil }
    upstream = URLSessionUpstream(configuration: inner, delegate: delegate)
    self.origin = origin ?? upstream
  }

  deinit { upstream.finishTasksAndInvalidate() }

  /// Lets what is under way come to its end, and takes nothing more.
  public func finishTasksAndInvalidate() {
    isInvalidated.withLock { $0 = true }
    upstream.finishTasksAndInvalidate()
  }

  /// Cancels what is under way, and takes nothing more. Bodies that come from the store can still be
  /// read.
  public func invalidateAndCancel() {
    isInvalidated.withLock { $0 = true }
    upstream.invalidateAndCancel()
  }

  /// Keeps a file as long as the session.
  func keep(_ file: CachedFile) { files.withLock { $0.append(file) } }

  /// - Throws: `URLError.cancelled`.
  func checkValid() throws(URLError) {
    if isInvalidated.withLock({ $0 }) {
      throw URLError(
        .cancelled, userInfo: [NSLocalizedDescriptionKey: "The session was invalidated."])
    }
  }
}

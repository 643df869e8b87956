public import HTTPCaching
import Synchronization

/// A session with Foundation's methods that loads through an HTTP cache (RFC 9111).
///
/// ```swift
/// let cache = try HTTPCache.open(.userCaches("com.example.app"))
/// let session = CachedURLSession(cache: cache)
/// let (data, response) = try await session.data(from: url)
/// print(response.cacheOutcome as Any)
/// ```
///
/// All cache policies of requests and of the configuration are honoured. At most 20 redirects are followed,
/// each through the cache. Cookies and the configuration's additional fields are added before the cache sees
/// the request, so that `Vary` may name them. Bodies are delivered without their content coding. URLs of
/// other schemes than `http` and `https` are passed on to Foundation and never cached.
///
/// Every method throws `URLError`, like Foundation's: `cancelled` if the task was cancelled, a delegate
/// cancelled it or the session was invalidated; `resourceUnavailable` if the origin must not be asked and
/// nothing usable is stored. A cancelled request does not stop a transfer that other requests wait for.
public final class CachedURLSession: Sendable {
  /// The cache.
  public let cache: HTTPCache
  /// The configuration that the session was made with.
  public let configuration: URLSessionConfiguration
  /// Keeps the responses of accounts apart (RFC 9111 §7.2); empty for responses that all sessions without a
  /// partition share.
  public let partition: String
  /// The delegate for tasks without their own.
  public let delegate: (any URLSessionDelegate)?

  /// Foundation's transport: loads other schemes than HTTP, and makes the session and the tasks that delegates
  /// get.
  let foundation: URLSessionUpstream
  /// The upstream of the cache: the caller's with what a session adds, otherwise `foundation`.
  let upstream: any Upstream
  private let transport: SessionTransport?
  let cookies: SessionCookies?
  private let isInvalidated = Mutex(false)
  let recentResponses = RecentURLResponses()
  private let files = Mutex<[String: CachedFile]>([:])

  /// Makes a session.
  ///
  /// ```swift
  /// let session = CachedURLSession(cache: cache, via: AsyncHTTPClientUpstream(client: client))
  /// ```
  ///
  /// Over another transport than Foundation's, such as `AsyncHTTPClientUpstream`, the session adds what Foundation
  /// does: it follows redirects, sends and stores cookies, asks delegates and the credential storage about HTTP
  /// Basic, tells delegates how much of a body was sent, and applies the timeouts. Of other settings of the
  /// configuration (proxies, TLS, connections) the upstream has its own. URLs other than HTTP are loaded by
  /// Foundation.
  ///
  /// - Parameters:
  ///   - cache: the cache; several sessions may share it.
  ///   - upstream: sends requests; nil uses Foundation. It should remove content codings and say so
  ///     (`isContentDecoded`), because callers get bodies as they arrive. It is not closed with the session.
  ///   - partition: the account whose responses the session uses and stores; two accounts need two names, or
  ///     one gets what the other loaded.
  ///   - configuration: as for a `URLSession`; its `urlCache` is not used. With a shared cache, its
  ///     credential storage is not used either.
  ///   - delegate: is asked about authentication challenges (with an upstream, not about certificates) and
  ///     redirects, gets final responses and may refuse them (`URLSessionDataDelegate`), the progress of uploads,
  ///     and the end of the session. The session and the task that its methods get are Foundation's, which load
  ///     from the origin.
  public init(
    cache: HTTPCache, via upstream: (any Upstream)? = nil, partition: String = "",
    configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil
  ) {
    self.cache = cache
    self.partition = partition
    self.configuration = configuration
    self.delegate = delegate
    cookies = SessionCookies(configuration)
    let inner = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    // The cache has to see these fields in the request.
    inner.httpAdditionalHeaders = nil
    if cache.configuration.rules.mode == .shared { inner.urlCredentialStorage = nil }
    foundation = URLSessionUpstream(
      configuration: inner, delegate: delegate,
      keepsUnreadBytesInMemory: cache.configuration.encryption != nil)
    transport = upstream.map { [foundation] in
      SessionTransport($0, configuration: inner, foundation: foundation)
    }
    self.upstream = transport ?? foundation
  }

  deinit { finishTasksAndInvalidate() }

  /// Lets running requests finish, and starts no more.
  public func finishTasksAndInvalidate() {
    isInvalidated.withLock { $0 = true }
    foundation.finishTasksAndInvalidate()
    transport?.finishAndInvalidate()
  }

  /// Cancels running requests, and starts no more. Bodies from the store can still be read.
  public func invalidateAndCancel() {
    isInvalidated.withLock { $0 = true }
    transport?.invalidateAndCancel()
    foundation.invalidateAndCancel()
  }

  /// Keeps a file as long as the session.
  func keep(_ file: CachedFile) { files.withLock { $0[file.path] = file } }

  /// - Throws: `URLError.cancelled`.
  func checkValid() throws(URLError) {
    if isInvalidated.withLock({ $0 }) {
      throw URLError(
        .cancelled, userInfo: [NSLocalizedDescriptionKey: "The session was invalidated."])
    }
  }
}

public import HTTPCaching
import HTTPTypes
import Synchronization

/// An upstream that sends requests with Foundation's `URLSession`.
///
/// It follows no redirects and caches nothing. Foundation decodes content codings, which the response states
/// (`isContentDecoded`), and delivers no trailers. It delivers the 1xx responses that the system's Foundation
/// delivers (on Linux all but 100).
///
/// Foundation delivers as fast as the origin sends. Of the bytes that a slow reader has not read, 2 MiB are kept
/// in memory and the rest in a temporary file, unless the response or the request says `no-store`, or
/// `keepsUnreadBytesInMemory` is set: those are kept in memory without a limit.
public final class URLSessionUpstream: Upstream {
  /// Nil after invalidation. It is released when its running tasks have ended.
  private let session: Mutex<OriginSession?>
  private let delegate: (any URLSessionDelegate)?
  private let cookies: SessionCookies?
  private let idleTimeout: TimeInterval
  private let wholeTimeout: TimeInterval
  private let keepsUnreadBytesInMemory: Bool

  /// Makes an upstream with a new session.
  ///
  /// - Parameters:
  ///   - configuration: as for a `URLSession`. Its cache and its cache policy are not used. Its cookie
  ///     storage keeps the cookies of responses, but no cookies are added to requests.
  ///   - delegate: is asked about authentication challenges, and gets the progress of uploads and the end of
  ///     the session. It is kept until then.
  ///   - keepsUnreadBytesInMemory: whether no byte of a body may reach a file unencrypted.
  public init(
    configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
    keepsUnreadBytesInMemory: Bool = false
  ) {
    self.keepsUnreadBytesInMemory = keepsUnreadBytesInMemory
    cookies = SessionCookies(configuration)
    idleTimeout = configuration.timeoutIntervalForRequest
    wholeTimeout = configuration.timeoutIntervalForResource
    let inner = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    inner.urlCache = nil
    inner.requestCachePolicy = .reloadIgnoringLocalCacheData
    inner.httpCookieStorage = nil
    inner.httpShouldSetCookies = false
    inner.httpCookieAcceptPolicy = .never
    // Disables Foundation's own timeouts.
    inner.timeoutIntervalForRequest = TransferLimits.longest
    inner.timeoutIntervalForResource = TransferLimits.longest
    session = Mutex(OriginSession(inner, delegate: delegate))
    self.delegate = delegate
  }

  /// Sends a request and returns when the head of the final response has arrived.
  ///
  /// - Throws: `UpstreamError`, with the error of Foundation as its cause.
  public func send(
    _ request: UpstreamRequest
  ) async throws(UpstreamError) -> UpstreamResponse {
    let context = request.context as? RequestContext
    let idleTimeout = context?.prototype.timeout(orDefault: idleTimeout) ?? idleTimeout
    let made = try Self.urlRequest(for: request.head, like: context?.prototype)
    var content: UploadContent?
    if let body = request.body {
      do { content = try await UploadContent(body) } catch {
        if error is CancellationError { throw UpstreamError(.cancelled, "cancelled", cause: error) }
        throw UpstreamError(.protocol, "the request's content could not be read", cause: error)
      }
    }
    var terms = FoundationRequest.Terms(
      request: made, content: content, limits: TransferLimits(idle: idleTimeout, whole: wholeTimeout),
      headTimeout: request.timeout)
    if let priority = request.priority { terms.priority = Self.priority(priority) }
    terms.delegates = context?.delegates ?? delegate.map { [$0] } ?? []
    if context?.prototype.httpShouldHandleCookies ?? true { terms.cookies = cookies }
    terms.mayUseFiles = !keepsUnreadBytesInMemory
    terms.onInterim = request.onInterim
    let sent = FoundationRequest(terms, in: try current())
    var head = try await sent.head()
    // The coding is already removed.
    head.headerFields[.transferEncoding] = nil
    // The answer to credentials that a shared cache has not seen (RFC 9111 §3.5).
    let usedForeignCredentials = sent.isAuthorized && context?.isShared == true
    return UpstreamResponse(
      head: head, body: MessageBody(ReceivedBody(sent)), isContentDecoded: sent.isDecoded,
      storageRefusal: usedForeignCredentials ? .authorized : nil)
  }

  /// Lets running requests finish, and starts no more.
  public func finishTasksAndInvalidate() {
    // Released outside of the lock.
    _ = session.withLock { $0.take() }
  }

  /// Cancels running requests, and starts no more.
  public func invalidateAndCancel() { session.withLock { $0.take() }?.invalidateAndCancel() }

  /// Foundation's session with its running tasks.
  ///
  /// - Throws: `UpstreamError.cancelled` after it was invalidated.
  func current() throws(UpstreamError) -> OriginSession {
    guard let session = session.withLock({ $0 }) else { throw OriginSession.invalidated }
    return session
  }

  private static func urlRequest(
    for head: HTTPRequest, like prototype: URLRequest?
  ) throws(UpstreamError) -> URLRequest {
    let made: URLRequest
    do throws(CacheError) { made = try URLRequest(head) } catch {
      throw UpstreamError(.protocol, error.message, cause: error)
    }
    var request = prototype ?? made
    request.url = made.url
    request.httpMethod = made.httpMethod
    request.allHTTPHeaderFields = made.allHTTPHeaderFields
    request.httpBody = nil
    request.httpBodyStream = nil
    request.httpShouldHandleCookies = false
    request.cachePolicy = .reloadIgnoringLocalCacheData
    request.timeoutInterval = TransferLimits.longest
    // A part of encoded content cannot be decoded.
    if head.headerFields.contains(.range), !head.headerFields.contains(.acceptEncoding) {
      request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
    return request
  }

  private static func priority(_ priority: TaskPriority) -> Float {
    if priority > .medium { return URLSessionTask.highPriority }
    return priority < .medium ? URLSessionTask.lowPriority : URLSessionTask.defaultPriority
  }
}

import Foundation
public import HTTPCaching
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The way to the origin over Foundation's `URLSession`.
///
/// It follows no redirect and keeps nothing. Foundation takes off content codings, which the response
/// says (`isContentDecoded`), and hands over no trailers; of 1xx responses it hands over what the
/// system's Foundation does (on Linux all but 100).
///
/// Foundation delivers as fast as the origin sends. What a slow reader has not read is kept in memory:
/// at most about 6 MiB where the origin takes ranges and gives a strong validator, since the rest is
/// then asked for in ranges as the reader goes on; without bounds elsewhere.
public final class URLSessionUpstream: Upstream {
  /// Nil once it was invalidated: it goes when what is under way in it has come to its end.
  private let session: Mutex<OriginSession?>
  private let delegate: (any URLSessionDelegate)?
  private let cookies: CookieJar?
  private let idleTimeout: TimeInterval
  private let wholeTimeout: TimeInterval

  /// Makes an upstream with a session of its own.
  ///
  /// - Parameters:
  ///   - configuration: as for a `URLSession`. Its cache and its cache policy are not used. Its cookie
  ///     storage gets the cookies of responses, but requests have only those that they come with.
  ///   - delegate: is asked about authentication challenges, and told about progress of uploads and
  ///     the end of the session. It is kept until then.
  public init(
    configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil
  ) {
    cookies = CookieJar(configuration)
    idleTimeout = configuration.timeoutIntervalForRequest
    wholeTimeout = configuration.timeoutIntervalForResource
    let inner = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    inner.urlCache = nil
    inner.requestCachePolicy = .reloadIgnoringLocalCacheData
    inner.httpCookieStorage = nil
    inner.httpShouldSetCookies = false
    inner.httpCookieAcceptPolicy = .never
    inner.timeoutIntervalForRequest = Self.unlimited
    inner.timeoutIntervalForResource = Self.unlimited
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
    var terms = OriginExchange.Terms(
      request: try Self.foundations(request.head, context?.prototype),
      idleTimeout: Self.duration(idleTimeout),
      headTimeout: request.timeout, wholeTimeout: Self.duration(wholeTimeout))
    if let body = request.body {
      do { terms.content = try await RequestContent(body) } catch {
        if error is CancellationError { throw UpstreamError(.cancelled, "cancelled", cause: error) }
        throw UpstreamError(.protocol, "the request's content could not be read", cause: error)
      }
    }
    if let priority = request.priority { terms.priority = Self.priority(priority) }
    terms.delegates = context?.delegates ?? delegate.map { [$0] } ?? []
    if context?.prototype.httpShouldHandleCookies ?? true { terms.cookies = cookies }
    terms.onInterim = request.onInterim
    let exchange = OriginExchange(terms, in: try current())
    var head = try await exchange.head()
    // The coding is off already.
    head.headerFields[.transferEncoding] = nil
    // What was answered to credentials that a shared cache has not seen (RFC 9111 §3.5).
    let isAnothers = exchange.isAuthorized && context?.isShared == true
    return UpstreamResponse(
      head: head, body: MessageBody(ReceivedBody(exchange)), isContentDecoded: exchange.isDecoded,
      storageRefusal: isAnothers ? .authorized : nil)
  }

  /// Lets what is under way come to its end, and takes nothing more.
  public func finishTasksAndInvalidate() {
    // Released outside of the lock.
    _ = session.withLock { $0.take() }
  }

  /// Cancels what is under way, and takes nothing more.
  public func invalidateAndCancel() { session.withLock { $0.take() }?.invalidateAndCancel() }

  /// Foundation's session, with what is under way in it.
  ///
  /// - Throws: `UpstreamError.cancelled` after it was invalidated.
  func current() throws(UpstreamError) -> OriginSession {
    guard let session = session.withLock({ $0 }) else { throw OriginSession.invalidated }
    return session
  }

  /// Foundation's own timeouts, out of the way: seconds of about a year.
  private static let unlimited: TimeInterval = 30_000_000

  private static func duration(_ interval: TimeInterval) -> Duration {
    .seconds(min(max(interval, 0), unlimited))
  }

  private static func foundations(
    _ head: HTTPRequest, _ prototype: URLRequest?
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
    request.timeoutInterval = unlimited
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

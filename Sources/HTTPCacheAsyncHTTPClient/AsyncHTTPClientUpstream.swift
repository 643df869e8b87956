#if AsyncHTTPClient
  public import AsyncHTTPClient
  import HTTPCacheNIO
  import HTTPCacheSemantics
  public import HTTPCaching
  public import Logging
  public import NIOCore
  public import NIOHTTP1
  public import NIOSSL

  /// An upstream that sends requests with AsyncHTTPClient: HTTP/1.1 and HTTP/2, TLS.
  ///
  /// It follows no redirects. AsyncHTTPClient delivers neither 1xx responses nor trailers.
  public struct AsyncHTTPClientUpstream: Upstream {
    /// Settings that a caller passes through the cache for one request, as `RequestOptions.context`.
    public struct Context: Sendable {
      /// The time by which the response's head must have arrived.
      public var deadline: NIODeadline?
      /// The logger that AsyncHTTPClient uses for the request.
      public var logger: Logger?
      /// The TLS configuration of this request.
      public var tlsConfiguration: TLSConfiguration?
      /// The address that this request's connection is bound to.
      public var localAddress: String?
      /// Called with the version of HTTP of each response, before the response is returned.
      public var onVersion: (@Sendable (HTTPVersion) -> Void)?
      /// The caller's content, whose length only AsyncHTTPClient knows.
      var content: HTTPClientRequest.Body?

      /// Makes a context.
      public init(
        deadline: NIODeadline? = nil, logger: Logger? = nil,
        tlsConfiguration: TLSConfiguration? = nil, localAddress: String? = nil
      ) {
        self.deadline = deadline
        self.logger = logger
        self.tlsConfiguration = tlsConfiguration
        self.localAddress = localAddress
      }
    }

    /// The client that sends requests.
    public let client: HTTPClient
    let isDecompressing: Bool
    private let headTimeout: Duration
    private let idleTimeout: Duration?
    private let eventStreamTimeout: Duration?
    /// Measures the waits for the bytes of bodies.
    var clock: any CacheClock = SystemClock()
    /// The origins that have answered the client: it may have idle connections to them, which they close at any moment.
    private let answered = BoundedSet<String>(limit: 1_024)

    /// Makes an upstream over a client, which the caller has to shut down.
    ///
    /// The client should have `redirectConfiguration` `.disallow`. If the client follows a redirect, this
    /// upstream returns the redirect itself, and the cache requests its target again.
    ///
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - isDecompressing: whether the client was made with `decompression`, like `HTTPClient.shared`.
    ///     Requests without `Accept-Encoding` then ask for gzip and deflate. Decoded bodies are stored decoded,
    ///     and their ranges are not reused.
    ///   - headTimeout: the longest time to wait for the head, if neither the request nor its context sets a limit. A
    ///     request with content may take longer, as long as the origin takes the next piece within this time.
    ///   - idleTimeout: the longest time to wait for the next bytes of a body that is no event stream
    ///     (`text/event-stream`); nil uses the client's `timeout.read`.
    ///   - eventStreamTimeout: the longest time to wait for the next bytes of an event stream, which may be
    ///     silent for hours; nil uses the client's `timeout.read`.
    public init(
      client: HTTPClient, isDecompressing: Bool = false, headTimeout: Duration = .seconds(60),
      idleTimeout: Duration? = nil, eventStreamTimeout: Duration? = nil
    ) {
      self.client = client
      self.isDecompressing = isDecompressing || client === HTTPClient.shared
      self.headTimeout = headTimeout
      self.idleTimeout = idleTimeout
      self.eventStreamTimeout = eventStreamTimeout
    }

    /// The longest time to wait for a head.
    public var defaultTimeout: Duration? { headTimeout }

    /// Sends a request and returns when the head has arrived.
    ///
    /// - Throws: `UpstreamError`.
    public func send(
      _ request: UpstreamRequest
    ) async throws(UpstreamError) -> UpstreamResponse {
      let context = request.context as? Context
      let watch =
        request.body != nil && request.timeout == nil && context?.deadline == nil
        ? UploadWatch(limit: TimeAmount(headTimeout), on: client.eventLoopGroup.any()) : nil
      let outgoing = try outgoing(request, context, watch)
      let now = NIODeadline.now()
      let latest = now + TimeAmount(request.timeout ?? headTimeout)
      let deadline =
        if let limit = context?.deadline { request.timeout == nil ? limit : min(limit, latest) } else {
          latest
        }
      let response = try await execute(
        outgoing, request, deadline: deadline, logger: context?.logger, watchedBy: watch)
      context?.onVersion?(response.version)
      if let followed = response.history.first, response.history.count > 1 {
        return try Self.redirect(followed.responseHead)
      }
      var head = try Self.head(response.status, response.headers)
      let isDecoded = isDecompressing && Self.isDecoded(response.headers)
      let length = try Self.bodyLength(head, request.head.method, isDecoded: isDecoded)
      // The transfer coding is already removed; over HTTP/2 there is none, but NIO adds the field.
      head.headerFields[.transferEncoding] = nil
      if isDecoded {
        // Make the fields match the decoded bytes: AsyncHTTPClient does not change them.
        head.headerFields[.contentEncoding] = nil
        head.headerFields[.contentLength] = nil
      }
      return UpstreamResponse(
        head: head, body: body(response.body, length: length, describedBy: head.headerFields),
        isContentDecoded: isDecoded)
    }

    /// The longest time to wait for the next bytes of the body of a response with these fields; nil uses the client's
    /// `timeout.read`.
    func silence(of fields: HTTPFields) -> Duration? {
      UpstreamResponse.isEventStream(fields) ? eventStreamTimeout : idleTimeout
    }

    /// Executes a request; once more on a new connection if the client used an idle one, which the origin was closing
    /// (RFC 9112 §9.3.1).
    private func execute(
      _ outgoing: HTTPClientRequest, _ request: UpstreamRequest, deadline: NIODeadline, logger: Logger?,
      watchedBy watch: UploadWatch?
    ) async throws(UpstreamError) -> HTTPClientResponse {
      let origin = "\(request.head.scheme ?? "")://\(request.head.authority ?? "")"
      var mayRepeat = request.isRepeatable && answered.contains(origin)
      while true {
        do {
          let response = try await client.execute(
            outgoing, deadline: deadline, logger: logger, watchedBy: watch)
          answered.insert(origin)
          return response
        } catch let error where mayRepeat && UpstreamError.isClosedConnection(error) {
          mayRepeat = false
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
          // Without any answer, the cache is disconnected in terms of RFC 9111 §4.2.4.
          throw UpstreamError(
            .unreachable, "the origin closed the connection without a response", cause: error)
        } catch {
          throw UpstreamError(asyncHTTPClient: error)
        }
      }
    }

    private func outgoing(
      _ request: UpstreamRequest, _ context: Context?, _ watch: UploadWatch?
    ) throws(UpstreamError) -> HTTPClientRequest {
      guard let scheme = request.head.scheme, let authority = request.head.authority else {
        throw UpstreamError(.protocol, "the request has no absolute URI")
      }
      guard Self.hasHost(authority) else {
        throw UpstreamError(.unreachable, "'\(authority)' has no valid host")
      }
      let path = request.head.path ?? "/"
      guard TargetURI.percentDecoded(path.prefix { $0 != "?" }, keepsOthers: true) != nil else {
        throw UpstreamError(
          .protocol, "'\(path)' is no UTF-8: AsyncHTTPClient would ask for '/' instead")
      }
      var outgoing = HTTPClientRequest(url: "\(scheme)://\(authority)\(path)")
      outgoing.method = HTTPMethod(rawValue: request.head.method.rawValue)
      outgoing.tlsConfiguration = context?.tlsConfiguration
      outgoing.localAddress = context?.localAddress
      for field in request.head.headerFields
      where field.name.canonicalName != "host" || field.value != authority {
        outgoing.headers.add(name: field.name.rawName, value: field.value)
      }
      if let host = Self.host(withoutZone: authority), !outgoing.headers.contains(name: "Host") {
        outgoing.headers.add(name: "Host", value: host)
      }
      if isDecompressing, !outgoing.headers.contains(name: "Accept-Encoding") {
        // A part of encoded content cannot be decoded.
        let isPart = outgoing.headers.contains(name: "Range")
        outgoing.headers.add(name: "Accept-Encoding", value: isPart ? "identity" : "gzip, deflate")
      }
      guard let body = request.body else { return outgoing }
      let length: HTTPClientRequest.Body.Length = body.length.map { .known($0) } ?? .unknown
      if let content = context?.content, body.source is BufferSource<HTTPClientRequest.Body> {
        outgoing.body = content
      } else if let watch {
        outgoing.body = .stream(WatchedContent(buffers: BufferSequence(body), watch: watch), length: length)
      } else {
        outgoing.body = .stream(BufferSequence(body), length: length)
      }
      return outgoing
    }

    /// An authority without the zone of its IPv6 address, which means nothing to other machines (RFC 6874 §4); nil if it has
    /// none.
    static func host(withoutZone authority: String) -> String? {
      guard authority.first == "[", let end = authority.firstIndex(of: "]"),
        let zone = authority[..<end].firstIndex(of: "%")
      else { return nil }
      return String(authority[..<zone] + authority[end...])
    }

    /// Whether an authority has a host that AsyncHTTPClient can connect to. It decodes percent-encoded octets of a name
    /// and ends the process if that leaves nothing but brackets.
    private static func hasHost(_ authority: String) -> Bool {
      let octets = authority.utf8
      let start = octets.lastIndex(of: UInt8(ascii: "@")).map(octets.index(after:)) ?? octets.startIndex
      let host = octets[start...]
      guard host.first == UInt8(ascii: "[") else {
        let name = host.prefix { $0 != UInt8(ascii: ":") }
        return !name.isEmpty && !name.contains(UInt8(ascii: "%"))
      }
      return host.dropFirst().first.map { $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "%") } ?? false
    }

    private static func head(
      _ status: HTTPResponseStatus, _ headers: HTTPHeaders
    ) throws(UpstreamError) -> HTTPResponse {
      guard (100...999).contains(status.code) else {
        throw UpstreamError(.protocol, "status \(status.code) is none")
      }
      var fields = HTTPFields()
      fields.reserveCapacity(headers.count)
      for (name, value) in headers {
        guard let name = HTTPField.Name(name) else {
          throw UpstreamError(.protocol, "'\(name)' is not the name of a field")
        }
        guard fields.appendBounded(HTTPField(name: name, lenientValue: Array(value.utf8))) else {
          throw UpstreamError(.protocol, "the head has more than \(HTTPFields.countLimit) fields")
        }
      }
      return HTTPResponse(
        status: .init(code: Int(status.code), reasonPhrase: status.reasonPhrase),
        headerFields: fields)
    }

    /// The redirect that the client followed itself. Its body is lost, so it must not be stored: the stored
    /// response would not be what the origin sent.
    private static func redirect(
      _ followed: HTTPResponseHead
    ) throws(UpstreamError) -> UpstreamResponse {
      var head = try head(followed.status, followed.headers)
      head.headerFields[.transferEncoding] = nil
      head.headerFields[.contentLength] = "0"
      return UpstreamResponse(head: head, body: .empty, storageRefusal: .upstream)
    }

    /// Whether NIO's decompressor removes the coding.
    private static func isDecoded(_ headers: HTTPHeaders) -> Bool {
      let coding = headers[canonicalForm: "Content-Encoding"].first?.lowercased()
      return coding == "gzip" || coding == "deflate"
    }

    /// The required number of bytes of the body; nil if unknown (RFC 9112 §6.3).
    ///
    /// - Throws: `UpstreamError` for a transfer coding that NIO does not remove (RFC 9112 §6.1).
    private static func bodyLength(
      _ head: HTTPResponse, _ method: HTTPRequest.Method, isDecoded: Bool
    ) throws(UpstreamError) -> Int64? {
      if method == .head || head.status.code == 204 || head.status.code == 304 { return 0 }
      if let coding = head.headerFields[.transferEncoding] {
        // Empty elements of a list do not count (RFC 9110 §5.6.1.2).
        let codings = coding.lowercased().split(whereSeparator: { ", \t".contains($0) })
        guard codings == ["chunked"] else {
          throw UpstreamError(.protocol, "the transfer coding '\(coding)' is not known")
        }
        return nil
      }
      return isDecoded ? nil : head.headerFields[.contentLength].flatMap { Int64($0) }
    }
  }

  extension HTTPRequest {
    /// The request in the types of the cache; nil if its scheme is not http or https, a field name is not a token, or
    /// there are more fields than `HTTPFields.countLimit`.
    init?(_ request: HTTPClientRequest) {
      let url = request.url.utf8
      guard let colon = url.firstIndex(of: UInt8(ascii: ":")), url[colon...].starts(with: "://".utf8),
        let method = HTTPRequest.Method(request.method.rawValue)
      else { return nil }
      let scheme = request.url[..<colon].lowercased()
      guard scheme == "http" || scheme == "https" else { return nil }
      let rest = url[url.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
      let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
      let tail = String(Substring(rest[end...]))
      self.init(
        method: method, scheme: scheme, authority: String(Substring(rest[..<end])),
        path: rest[end...].first == UInt8(ascii: "/") ? tail : "/" + tail)
      headerFields.reserveCapacity(request.headers.count)
      for (name, value) in request.headers {
        guard let name = HTTPField.Name(name), headerFields.appendBounded(HTTPField(name: name, value: value))
        else { return nil }
      }
    }
  }
#endif

import AsyncHTTPClient
import HTTPCaching
import NIOCore
import NIOHTTP1
import NIOSSL

/// The way to the origin over AsyncHTTPClient: HTTP/1.1 and HTTP/2, TLS.
///
/// It follows no redirect and takes off no content coding. AsyncHTTPClient hands over neither 1xx
/// responses nor trailers.
struct AsyncHTTPClientUpstream: Upstream {
  /// What a client is made with.
  struct Options: Sendable {
    /// The most time to open a connection.
    var connectTimeout: Duration = .seconds(10)
    /// The most time to wait for the head, where a request does not say.
    var headTimeout: Duration = .seconds(60)
    /// The most time to wait for the next bytes of a body.
    var idleTimeout: Duration = .seconds(60)
    /// Whether to leave HTTP/2 out.
    var isHTTP1Only = false
    /// A file of certificates in PEM to trust in place of the system's.
    var trustRoots: String?
  }

  private let client: HTTPClient
  private let options: Options

  /// Runs `body` with a client of its own and closes it afterwards.
  static func withClient<Result>(
    _ options: Options = Options(), _ body: (AsyncHTTPClientUpstream) async throws -> Result
  ) async throws -> Result {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.decompression = .disabled
    configuration.timeout = .init(connect: TimeAmount(options.connectTimeout), read: nil)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = options.isHTTP1Only ? .http1Only : .automatic
    if let path = options.trustRoots {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(path)
      configuration.tlsConfiguration = tls
    }
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
      let result = try await body(AsyncHTTPClientUpstream(client: client, options: options))
      try await client.shutdown()
      return result
    } catch {
      // The body's error is the one to tell; connections that do not close cleanly go with the process.
      try? await client.shutdown()
      throw error
    }
  }

  /// Sends a request and returns with the head.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    guard let scheme = request.head.scheme, let authority = request.head.authority else {
      throw UpstreamError(.protocol, "the request has no absolute URI")
    }
    var outgoing = HTTPClientRequest(url: "\(scheme)://\(authority)\(request.head.path ?? "/")")
    outgoing.method = HTTPMethod(rawValue: request.head.method.rawValue)
    for field in request.head.headerFields where field.name.canonicalName != "host" {
      outgoing.headers.add(name: field.name.rawName, value: field.value)
    }
    if let body = request.body {
      outgoing.body = .stream(
        RequestBuffers(body: body), length: body.length.map { .known($0) } ?? .unknown)
    }
    let response: HTTPClientResponse
    do {
      response = try await client.execute(
        outgoing, timeout: TimeAmount(request.timeout ?? options.headTimeout))
    } catch {
      throw UpstreamError(asyncHTTPClient: error)
    }
    var head = try Self.head(response)
    let length = try Self.bodyLength(head, request.head.method)
    // The coding is off already; over HTTP/2 there never was one, whatever NIO makes of it.
    head.headerFields[.transferEncoding] = nil
    return UpstreamResponse(
      head: head,
      body: MessageBody(
        AsyncHTTPClientBody(
          response.body, length: length,
          idleTimeout: TimeAmount(options.idleTimeout), eventLoop: client.eventLoopGroup.any())))
  }

  private static func head(_ response: HTTPClientResponse) throws(UpstreamError) -> HTTPResponse {
    guard (100...999).contains(response.status.code) else {
      throw UpstreamError(.protocol, "status \(response.status.code) is none")
    }
    var fields = HTTPFields()
    fields.reserveCapacity(response.headers.count)
    for (name, value) in response.headers {
      guard let name = HTTPField.Name(name) else {
        throw UpstreamError(.protocol, "'\(name)' is not the name of a field")
      }
      fields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
    }
    return HTTPResponse(
      status: .init(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase),
      headerFields: fields)
  }

  /// How many bytes the body must have; nil where nothing tells (RFC 9112 §6.3).
  ///
  /// - Throws: `UpstreamError` for a transfer coding that nobody takes off (RFC 9112 §6.1).
  private static func bodyLength(
    _ head: HTTPResponse, _ method: HTTPRequest.Method
  ) throws(UpstreamError) -> Int64? {
    if method == .head || head.status.code == 204 || head.status.code == 304 { return 0 }
    if let coding = head.headerFields[.transferEncoding] {
      guard coding.lowercased() == "chunked" else {
        throw UpstreamError(.protocol, "the transfer coding '\(coding)' is not known")
      }
      return nil
    }
    return head.headerFields[.contentLength].flatMap { Int64($0) }
  }
}

/// The content of a request as NIO's buffers.
private struct RequestBuffers: AsyncSequence, Sendable {
  let body: MessageBody

  struct AsyncIterator: AsyncIteratorProtocol {
    let iterator: MessageBody.AsyncIterator

    func next() async throws -> ByteBuffer? {
      try await iterator.next().map { bytes in
        bytes.withUnsafeBytes { ByteBuffer(bytes: $0) }
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator()) }
}

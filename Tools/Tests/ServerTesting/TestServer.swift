package import AsyncHTTPClient
package import Hummingbird
import Logging
import NIOCore
package import NIOHTTP1

/// A server on a port of its own, such as one of Hummingbird, and a client that caches nothing.
package struct TestServer: Sendable {
  /// The port.
  package let port: Int
  private let client: HTTPClient

  package init(port: Int, client: HTTPClient) { (self.port, self.client) = (port, client) }

  /// The URL of the server, such as `http://127.0.0.1:50123`.
  package var base: String { "http://127.0.0.1:\(port)" }

  /// A client that caches nothing, and follows no redirects.
  package static func makeClient() -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Runs `body` with a server, and ends the server afterwards.
  package static func run<Responder: HTTPResponder, Result: Sendable>(
    _ responder: Responder, _ body: @escaping @Sendable (TestServer) async throws -> Result
  ) async throws -> Result where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let app = Application(
      responder: responder,
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: 0), serverName: nil),
      onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
      logger: logger)
    let client = makeClient()
    let server = Task {
      defer { continuation.finish() }
      try await app.run()
    }
    let result: Swift.Result<Result, any Error>
    if let port = await ports.first(where: { _ in true }) {
      do {
        result = .success(try await body(TestServer(port: port, client: client)))
      } catch {
        result = .failure(error)
      }
    } else {
      result = .failure(NotStarted())
    }
    server.cancel()
    _ = await server.result
    try await client.shutdown()
    return try result.get()
  }

  private struct NotStarted: Error {}

  /// Sends a request and reads the answer to its end.
  package func send(
    _ method: HTTPMethod = .GET, _ path: String, _ headers: [String: String] = [:],
    body: String? = nil
  ) async throws -> TestAnswer {
    let response = try await open(method, path, headers, body: body)
    let text = String(buffer: try await response.body.collect(upTo: 64 << 20))
    return TestAnswer(status: Int(response.status.code), headers: response.headers, body: text)
  }

  /// Sends a request and returns with the head of the answer.
  package func open(
    _ method: HTTPMethod = .GET, _ path: String, _ headers: [String: String] = [:],
    body: String? = nil
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: base + path)
    request.method = method
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    if let body { request.body = .bytes(ByteBuffer(string: body)) }
    return try await client.execute(request, timeout: .seconds(120))
  }
}

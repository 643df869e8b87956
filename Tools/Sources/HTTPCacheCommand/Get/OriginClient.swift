import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import NIOCore
import NIOSSL

/// The way to the origin for a command that fetches.
enum OriginClient {
  /// What a client is made with.
  struct Options: Sendable {
    /// The most time to open a connection.
    var connectTimeout: Duration = .seconds(10)
    /// Whether to leave HTTP/2 out.
    var isHTTP1Only = false
    /// A file of certificates in PEM to trust in place of the system's.
    var trustRoots: String?
  }

  /// The most time to wait for the next bytes of a body.
  private static let idleTimeout: Duration = .seconds(60)

  /// Runs `body` with a client of its own and closes it afterwards.
  static func withUpstream<Result>(
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
      let result = try await body(
        AsyncHTTPClientUpstream(client: client, idleTimeout: idleTimeout))
      try await client.shutdown()
      return result
    } catch {
      // The body's error is the one to tell; connections that do not close cleanly go with the process.
      try? await client.shutdown()
      throw error
    }
  }
}

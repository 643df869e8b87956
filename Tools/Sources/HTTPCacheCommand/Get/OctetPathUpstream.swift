import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// Sends requests whose path has percent-encoded octets that are not UTF-8, such as `/caf%E9`, over a connection of
/// their own: AsyncHTTPClient would ask for `/` instead. Other requests go to `base`.
struct OctetPathUpstream: Upstream {
  let base: any Upstream
  /// Makes the upstream of one request.
  let makeUpstream: @Sendable () throws -> NIOUpstream

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let path = request.head.path?.prefix { $0 != "?" } ?? "/"
    guard TargetURI.percentDecoded(path, keepsOthers: true) == nil else {
      return try await base.send(request)
    }
    let upstream: NIOUpstream
    do { upstream = try makeUpstream() } catch {
      throw UpstreamError(.tls, "the TLS settings are not valid: \(error)", cause: error)
    }
    // The connection closes when its exchange ends.
    defer { upstream.shutDown() }
    return try await upstream.send(request)
  }
}

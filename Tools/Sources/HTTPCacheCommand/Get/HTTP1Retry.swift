import HTTPCacheProxy
import HTTPCaching
import HTTPTypes

/// An upstream that sends a request once more over HTTP/1.1 if the connection over HTTP/2 has failed: AsyncHTTPClient
/// takes no head of more than 16 KiB there. The request has an idempotent method and no body (RFC 9110 §9.2.2).
struct HTTP1Retry: Upstream {
  private static let repeatable: Set<HTTPRequest.Method> = [.get, .head, .options, .query]

  let base: any Upstream
  /// Speaks HTTP/1.1 alone.
  let http1: any Upstream

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    do throws(UpstreamError) {
      return try await base.send(request)
    } catch {
      guard request.body == nil, Self.repeatable.contains(request.head.method), error.isOfHTTP2 else {
        throw error
      }
      // An origin without HTTP/1.1 has said what is wrong before.
      do throws(UpstreamError) { return try await http1.send(request) } catch let second {
        throw second.kind == .cancelled ? second : error
      }
    }
  }
}

import HTTPCacheProxy
import HTTPCaching

/// An upstream that sends a request once more over HTTP/1.1 if the connection over HTTP/2 has failed, or has lost
/// octets of `Location`: AsyncHTTPClient takes no head of more than 16 KiB there, and decodes values as UTF-8. A
/// request that may not be repeated is not.
struct HTTP1Retry: Upstream {
  let base: any Upstream
  /// Speaks HTTP/1.1 alone.
  let http1: any Upstream

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    do throws(UpstreamError) {
      let response = try await base.send(request)
      guard request.isRepeatable, Self.hasLostOctets(response.head) else { return response }
      response.body.source.cancel()
    } catch {
      guard request.isRepeatable, error.isOfHTTP2 else { throw error }
      // An origin without HTTP/1.1 has said what is wrong before.
      do throws(UpstreamError) { return try await http1.send(request) } catch let second {
        throw second.kind == .cancelled ? second : error
      }
    }
    return try await http1.send(request)
  }

  /// Whether `Location` has lost octets: the redirect leads to another resource.
  private static func hasLostOctets(_ head: HTTPResponse) -> Bool {
    (300..<400).contains(head.status.code)
      && head.headerFields[fields: .location].contains(where: \.hasLostOctets)
  }
}

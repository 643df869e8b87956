import AsyncHTTPClient
import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// An upstream that sends a request once more over HTTP/1.1 if HTTP/2 has failed:
///
/// - No connection was there in time, perhaps because the origin agreed to HTTP/2 and never sent its SETTINGS. Nothing of
///   the request was sent then.
/// - The connection broke, or lost octets of `Location`: AsyncHTTPClient takes no head of more than 16 KiB there, and
///   decodes values as UTF-8. A request that may not be repeated is not.
final class HTTP1Retry: Upstream {
  /// Maximum number of origins without HTTP/2 that are remembered.
  private static let silentLimit = 1_024

  private let base: any Upstream
  /// Speaks HTTP/1.1 alone.
  private let http1: any Upstream
  /// The authorities that gave a connection over HTTP/1.1 only.
  private let silent = Mutex<Set<String>>([])

  init(base: any Upstream, http1: any Upstream) {
    self.base = base
    self.http1 = http1
  }

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let authority = request.head.authority ?? ""
    if silent.withLock({ $0.contains(authority) }) { return try await http1.send(request) }
    let start = ContinuousClock.now
    do throws(UpstreamError) {
      let response = try await base.send(request)
      guard request.isRepeatable, Self.hasLostOctets(response.head) else { return response }
      response.body.source.cancel()
    } catch {
      if Self.isWithoutConnection(error) {
        return try await connect(for: request, after: error, since: start)
      }
      guard request.isRepeatable, error.isOfHTTP2 else { throw error }
      // An origin without HTTP/1.1 has said what is wrong before.
      do throws(UpstreamError) { return try await http1.send(request) } catch let second {
        throw second.kind == .cancelled ? second : error
      }
    }
    return try await http1.send(request)
  }

  /// Sends a request for which the origin gave no connection.
  ///
  /// - Throws: `first` if the origin gives no connection over HTTP/1.1 either.
  private func connect(
    for request: UpstreamRequest, after first: UpstreamError, since start: ContinuousClock.Instant
  ) async throws(UpstreamError) -> UpstreamResponse {
    var again = request
    again.timeout = request.timeout.map { max(.zero, $0 - (ContinuousClock.now - start)) }
    do throws(UpstreamError) {
      let response = try await http1.send(again)
      remember(request.head.authority ?? "")
      return response
    } catch {
      if Self.isWithoutConnection(error) || error.kind == .unreachable { throw first }
      if error.kind == .cancelled || request.head.scheme != "https" { throw error }
      throw UpstreamError(
        error.kind, "no connection over HTTP/2 within the time limit; over HTTP/1.1: \(error.message)",
        cause: error.cause)
    }
  }

  private func remember(_ authority: String) {
    silent.withLock { silent in
      if silent.count >= Self.silentLimit { silent.removeAll() }
      silent.insert(authority)
    }
  }

  /// Whether no connection was there in time. AsyncHTTPClient counts the SETTINGS of HTTP/2 to the time of a connection.
  private static func isWithoutConnection(_ error: UpstreamError) -> Bool {
    guard let cause = error.cause as? HTTPClientError else { return false }
    return [HTTPClientError.connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout].contains(
      cause)
  }

  /// Whether `Location` has lost octets: the redirect leads to another resource.
  private static func hasLostOctets(_ head: HTTPResponse) -> Bool {
    (300..<400).contains(head.status.code)
      && head.headerFields[fields: .location].contains(where: \.hasLostOctets)
  }
}

public import HTTPCaching
import HTTPTypes
public import Logging

/// Sends the requests for a group of addresses to one of them, and to the next one if that fails.
///
/// The context of a request names the group (`UpstreamContext`); other requests pass unchanged.
public struct GroupUpstream: Upstream {
  private let base: NIOUpstream
  private let logger: Logger

  /// Makes an upstream over connections to origins.
  public init(_ base: NIOUpstream, logger: Logger) {
    self.base = base
    self.logger = logger
  }

  /// As `NIOUpstream.defaultTimeout`.
  public var defaultTimeout: Duration? { base.defaultTimeout }

  /// Sends a request, and returns when the head of the final response has arrived. A request whose method is
  /// idempotent (RFC 9110 §9.2.2), and that has no body, is sent to the next address if one cannot be reached or does
  /// not answer; any other only if no connection was made.
  ///
  /// - Throws: `UpstreamError` of the last address.
  public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    try await answer(request, upgrade: nil).response
  }

  /// Sends a request for an upgrade to another protocol, as `send` sends a request.
  ///
  /// - Returns: the response, and for a 101 the connection; give it back to the `NIOUpstream` when the tunnel ends.
  /// - Throws: `UpstreamError` of the last address.
  func upgrade(
    _ request: UpstreamRequest, to protocols: String
  ) async throws(UpstreamError) -> (response: UpstreamResponse, tunnel: ConnectionLease?) {
    try await answer(request, upgrade: protocols)
  }

  private func answer(
    _ request: UpstreamRequest, upgrade protocols: String?
  ) async throws(UpstreamError) -> (response: UpstreamResponse, tunnel: ConnectionLease?) {
    let context = request.upstreamContext
    guard context.address == nil, let group = context.group else {
      return try await base.answer(request, upgrade: protocols)
    }
    var failure = UpstreamError(.unreachable, "\(group.origin) has no address")
    for index in group.order() {
      var request = request
      request.context = UpstreamContext(address: group.addresses[index], silence: context.silence)
      do throws(UpstreamError) {
        let answer = try await base.answer(request, upgrade: protocols)
        group.succeeded(index)
        return answer
      } catch {
        if error.kind == .cancelled { throw error }
        if group.failed(index) {
          logger.warning("\(group.addresses[index]) is left out for now: \(error.message)")
        }
        let isConnected = error.kind != .unreachable || error.cause is RequestAttempt.ClosedBeforeResponse
        guard request.isRepeatable || !isConnected else { throw error }
        failure = error
      }
    }
    throw failure
  }
}

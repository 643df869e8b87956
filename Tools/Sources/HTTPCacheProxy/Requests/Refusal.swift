import HTTPCaching
import HTTPTypes

/// A response that the proxy makes itself.
struct Refusal: Error, Sendable {
  let status: HTTPResponse.Status
  let message: String
  var fields: HTTPFields = [:]
  /// The word for the log.
  let label: RequestOutcome
  /// Whether the connection must end, because the begin of the next request is unknown.
  var closes = false

  /// The content of the response.
  var text: String { "\(status.code) \(status.reasonPhrase): \(message)\n" }

  init(
    _ status: HTTPResponse.Status, _ message: String, label: RequestOutcome = .refused, closes: Bool = false
  ) {
    self.status = status
    self.message = message
    self.label = label
    self.closes = closes
  }

  /// The refusal of a request that breaks the protocol.
  init(_ violation: ProtocolViolation) {
    self.init(violation.status, violation.description, label: .badRequest, closes: true)
  }

  /// The refusal if the origin gave no usable response (RFC 9110 §15.6.3, §15.6.5).
  init(_ error: UpstreamError) {
    if error.cause is ForbiddenAddress {
      self.init(.forbidden, "this proxy does not connect to addresses that are not public")
      return
    }
    let status: HTTPResponse.Status = error.kind == .timeout ? .gatewayTimeout : .badGateway
    let (message, label): (String, RequestOutcome) =
      switch error.kind {
      case .unreachable:
        ((error.cause as? NotRecorded)?.description ?? "the origin cannot be reached", .unreachable)
      case .timeout: ("the origin gave no answer in time", .timeout)
      case .tls: ("the TLS connection to the origin failed", .tls)
      case .cancelled: ("the request was cancelled", .cancelledExchange)
      case .protocol: ("the origin's answer breaks the protocol", .protocol)
      @unknown default: ("the origin's answer breaks the protocol", .protocol)
      }
    self.init(status, message, label: label)
  }
}

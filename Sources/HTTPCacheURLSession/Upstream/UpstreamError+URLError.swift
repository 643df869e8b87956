import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension UpstreamError {
  /// The upstream error for an error of Foundation.
  ///
  /// - Parameter hasHead: whether the head of the response had arrived.
  init(_ error: any Error, hasHead: Bool) {
    if let error = error as? UpstreamError {
      self = error
      return
    }
    let kind = (error as? URLError).map { Self.kind($0.code, hasHead: hasHead) } ?? .protocol
    self.init(kind, error.localizedDescription, cause: error)
  }

  private static func kind(_ code: URLError.Code, hasHead: Bool) -> Kind {
    switch code {
    case .cancelled, .userCancelledAuthentication: .cancelled
    case .timedOut: .timeout
    case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
      .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      .unreachable
    // A connection that was closed before an answer; Foundation on Linux reports a bad response.
    case .networkConnectionLost, .badServerResponse: hasHead ? .protocol : .unreachable
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      .tls
    default: .protocol
    }
  }
}

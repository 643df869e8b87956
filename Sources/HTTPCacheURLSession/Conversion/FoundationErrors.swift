import HTTPCacheDownloads
import HTTPCaching

extension URLError {
  /// An error in Foundation's terms: the cause if it is a Foundation error, otherwise a similar one with the
  /// message as its description.
  static func make(_ error: any Error, url: URL?) -> URLError {
    switch error {
    case let error as URLError: return error
    case let error as UpstreamError:
      if let cause = error.cause as? URLError {
        // Foundation on Linux gives many errors no text, and no URL.
        return make(cause.code, error.message, cause: cause, url: url)
      }
      let code = error.cause is OfflineReason ? .notConnectedToInternet : code(of: error.kind)
      return make(code, error.message, cause: error.cause, url: url)
    case let error as CacheError:
      return make(
        error.code == .invalidRequest ? .badURL : .unknown, error.description, cause: error, url: url)
    case is CancellationError: return make(.cancelled, "cancelled", cause: error, url: url)
    default: return make(.unknown, String(describing: error), cause: error, url: url)
    }
  }

  /// The error for a body that is too long to deliver in one piece.
  static func tooLong(limit: Int, url: URL?) -> URLError {
    make(
      .dataLengthExceedsMaximum,
      "the body has more than the \(limit) bytes that are delivered in one piece", url: url)
  }

  static func make(
    _ code: Code, _ message: String, cause: (any Error)? = nil, url: URL?
  ) -> URLError {
    let text = url.map { "\($0.withoutSecrets): \(message)" } ?? message
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
    if let cause { userInfo[NSUnderlyingErrorKey] = cause as NSError }
    if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
    return URLError(code, userInfo: userInfo)
  }

  private static func code(of kind: UpstreamError.Kind) -> Code {
    switch kind {
    case .unreachable: .cannotConnectToHost
    case .timeout: .timedOut
    case .tls: .secureConnectionFailed
    case .cancelled: .cancelled
    case .protocol: .badServerResponse
    }
  }
}

extension CachedURLSession {
  /// The error that Foundation's methods would throw. Errors that are not about loading are unchanged.
  static func foundationError(_ error: any Error, _ url: URL?) -> any Error {
    switch error {
    case is CancellationError, is UpstreamError: return URLError.make(error, url: url)
    case let error as CacheError where error.code == .invalidRequest:
      return URLError.make(error, url: url)
    case let failure as DownloadFailure: return CocoaError.make(failure)
    default: return error
    }
  }
}

extension CocoaError {
  /// The error of a file that cannot be written.
  fileprivate static func make(_ failure: DownloadFailure) -> CocoaError {
    let code: Code =
      switch failure.kind {
      case .fullDisk: .fileWriteOutOfSpace
      case .readOnly: .fileWriteNoPermission
      case .noFolder: .fileNoSuchFile
      default: .fileWriteUnknown
      }
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: failure.message]
    if let number = failure.systemError.flatMap(POSIXErrorCode.init(rawValue:)) {
      userInfo[NSUnderlyingErrorKey] = POSIXError(number)
    }
    return CocoaError(code, userInfo: userInfo)
  }
}

extension UpstreamError {
  /// The upstream error for an error of Foundation.
  ///
  /// - Parameter hasHead: whether the head of the response had arrived.
  init(_ error: any Error, hasHead: Bool) {
    if let error = error as? UpstreamError {
      self = error
      return
    }
    guard let error = error as? URLError else {
      self.init(.protocol, error.localizedDescription, cause: error)
      return
    }
    var cause = error
    // Foundation on Linux has no code for a body that breaks off.
    if hasHead, error.code == .unknown {
      cause = URLError(.networkConnectionLost, userInfo: error.userInfo)
    }
    self.init(Self.kind(cause.code, hasHead: hasHead), error.localizedDescription, cause: cause)
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

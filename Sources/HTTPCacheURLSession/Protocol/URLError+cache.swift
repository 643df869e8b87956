import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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

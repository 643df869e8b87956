import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension CachedURLSession {
  /// The error that Foundation's methods would throw. Errors that are not about loading are unchanged.
  static func foundations(_ error: any Error, _ url: URL?) -> any Error {
    switch error {
    case is CancellationError, is UpstreamError: return URLError.make(error, url: url)
    case let error as CacheError where error.code == .invalidRequest:
      return URLError.make(error, url: url)
    default: return error
    }
  }
}

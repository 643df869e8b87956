import Foundation
import HTTPCacheDownloads
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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

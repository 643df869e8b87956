public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension CachePolicy {
  /// The policy for a policy of a `URLRequest` or a `URLSessionConfiguration`.
  public init(_ policy: URLRequest.CachePolicy) {
    self =
      switch policy {
      case .useProtocolCachePolicy: .standard
      case .reloadIgnoringLocalCacheData: .reload
      case .reloadIgnoringLocalAndRemoteCacheData: .reloadEverywhere
      case .returnCacheDataElseLoad: .cacheElseNetwork
      case .returnCacheDataDontLoad: .cacheOnly
      case .reloadRevalidatingCacheData: .revalidate
      @unknown default: .standard
      }
  }
}

import Foundation
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a session's configuration says about each of its requests.
struct LoadSettings: Sendable {
  var policy: URLRequest.CachePolicy
  /// Seconds without progress.
  var requestTimeout: TimeInterval
  /// Seconds in all.
  var resourceTimeout: TimeInterval
  /// What is sent unless the request says otherwise.
  var additionalFields: HTTPFields

  init(_ configuration: URLSessionConfiguration) {
    policy = configuration.requestCachePolicy
    requestTimeout = configuration.timeoutIntervalForRequest
    resourceTimeout = configuration.timeoutIntervalForResource
    additionalFields = HTTPFields(configuration.httpAdditionalHeaders ?? [:])
  }

  /// The request with what the configuration says where the request does not.
  func applied(to request: URLRequest) -> URLRequest {
    var request = request
    if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = policy }
    request.timeoutInterval = request.timeout(orDefault: requestTimeout)
    for (name, value) in additionalFields.dictionary
    where request.value(forHTTPHeaderField: name) == nil {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return request
  }
}

extension URLRequest {
  /// Seconds without progress after which the request fails. Foundation does not tell whether the 60
  /// seconds of a request were said or are what every request has.
  ///
  /// - Parameter configured: seconds where the request does not say.
  func timeout(orDefault configured: TimeInterval) -> TimeInterval {
    timeoutInterval > 0 && timeoutInterval != 60 ? timeoutInterval : configured
  }
}

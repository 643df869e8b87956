import HTTPCaching
import HTTPTypes

/// The settings of a session's configuration for each of its requests.
struct LoadSettings: Sendable {
  var policy: URLRequest.CachePolicy
  /// The longest time without progress, in seconds.
  var requestTimeout: TimeInterval
  /// The longest time in all, in seconds.
  var resourceTimeout: TimeInterval
  /// Fields that are sent unless the request sets them.
  var additionalFields: HTTPFields

  init(_ configuration: URLSessionConfiguration) {
    policy = configuration.requestCachePolicy
    requestTimeout = configuration.timeoutIntervalForRequest
    resourceTimeout = configuration.timeoutIntervalForResource
    additionalFields = HTTPFields(configuration.httpAdditionalHeaders ?? [:])
  }

  /// The request, with the configuration's settings where the request has none.
  func applied(to request: URLRequest) -> URLRequest {
    var request = request
    if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = policy }
    request.timeoutInterval = request.timeout(orDefault: requestTimeout)
    request.addMissing(additionalFields.dictionary)
    return request
  }
}

extension URLRequest {
  /// Adds the fields of a configuration that the request does not set.
  mutating func addMissing(_ fields: [AnyHashable: Any]) {
    for case let (name as String, text as String) in fields where value(forHTTPHeaderField: name) == nil {
      setValue(text, forHTTPHeaderField: name)
    }
  }

  /// The time without progress after which the request fails, in seconds. Foundation does not tell whether a
  /// request's 60 seconds were set or are the default.
  ///
  /// - Parameter configured: seconds if the request sets none.
  func timeout(orDefault configured: TimeInterval) -> TimeInterval {
    timeoutInterval > 0 && timeoutInterval != 60 ? timeoutInterval : configured
  }
}

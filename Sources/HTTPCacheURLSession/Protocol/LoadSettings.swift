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

  /// The policy of a request, or where it has none of its own, the configuration's.
  func policy(of request: URLRequest) -> CachePolicy {
    CachePolicy(request.cachePolicy == .useProtocolCachePolicy ? policy : request.cachePolicy)
  }

  /// Seconds without progress after which a request fails. Foundation does not tell whether the 60
  /// seconds of a request were said or are what every request has.
  func timeout(of request: URLRequest) -> TimeInterval {
    let timeout = request.timeoutInterval
    return timeout == 60 || timeout <= 0 ? requestTimeout : timeout
  }

  /// The request as the cache sees it.
  ///
  /// - Throws: `CacheError.invalidRequest`.
  func head(of request: URLRequest) throws(CacheError) -> HTTPRequest {
    var head = try HTTPRequest(request)
    for field in additionalFields where !head.headerFields.contains(field.name) {
      head.headerFields.append(field)
    }
    return head
  }

  /// The content of a request; nil for none.
  static func body(of request: URLRequest) -> MessageBody? {
    if let data = request.httpBody { return MessageBody(BodyBytes(data)) }
    return request.httpBodyStream.map { MessageBody(InputStreamSource($0)) }
  }
}

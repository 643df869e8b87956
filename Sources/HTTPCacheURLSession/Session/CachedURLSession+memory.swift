import Foundation
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension CachedURLSession {
  /// A whole answer from memory that needs no decision of a delegate, without suspending; nil if `load` has to be
  /// called.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head; by default a 2xx, because `load` follows
  ///   redirects and answers challenges.
  func answerFromMemory(
    _ request: URLRequest, where mayUse: (HTTPResponse) -> Bool = { $0.status.kind == .successful }
  ) -> (response: CachedHTTPURLResponse, body: BodyBytes)? {
    var options = RequestOptions(partition: partition, redirectLimit: 0, bodyForms: .decoded)
    options.isOneUser = true
    guard request.httpBody == nil, request.httpBodyStream == nil, policy(of: request) == .standard,
      (try? checkValid()) != nil, let url = request.url,
      let asked = try? cacheRequest(request, .none),
      let answer = cache.peek(
        asked, options: options, where: mayUse),
      let bytes = answer.body.bytesInMemory,
      let response = recentResponses.response(for: answer, url: url)
    else { return nil }
    return (response, bytes)
  }
}

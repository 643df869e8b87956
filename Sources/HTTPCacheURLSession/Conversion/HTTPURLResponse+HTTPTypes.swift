package import HTTPTypes

#if canImport(FoundationNetworking)
  import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

extension HTTPResponse {
  /// Status and fields of a Foundation response; nil if the status does not have three digits.
  package init?(_ response: HTTPURLResponse) {
    guard (100...999).contains(response.statusCode) else { return nil }
    self.init(
      status: Status(code: response.statusCode), headerFields: HTTPFields(response.allHeaderFields))
  }
}

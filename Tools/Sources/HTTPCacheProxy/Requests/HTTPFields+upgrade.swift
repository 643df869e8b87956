import HTTPCacheSemantics
import HTTPTypes

extension HTTPFields {
  /// The fields of a response to pass on. `Upgrade` stays in a 426: it names the protocols that the client has to use
  /// (RFC 9110 §15.5.22).
  func forwardable(of status: HTTPResponse.Status) -> HTTPFields {
    var forwarded = FieldHygiene.forwardable(self)
    if status.code == 426, let protocols = self[.upgrade] { forwarded[.upgrade] = protocols }
    return forwarded
  }
}

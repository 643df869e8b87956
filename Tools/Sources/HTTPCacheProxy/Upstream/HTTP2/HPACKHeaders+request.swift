import HTTPTypes
import NIOHPACK

extension HPACKHeaders {
  /// The fields that the compression of a connection, which many clients share, must not make guessable by the length
  /// of what is sent (RFC 7541 §7.1.3).
  private static let secrets: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]

  /// The head of a request without a body (RFC 9113 §8.3.1).
  init(_ head: HTTPRequest) {
    var fields = head.headerFields
    let acceptsTrailers = FieldList.contains("trailers", in: fields[.te])
    HopByHop.remove(from: &fields)
    fields.removeHost()
    fields[.contentLength] = nil
    self.init([
      (":method", head.method.rawValue), (":scheme", head.scheme ?? "https"),
      (":authority", head.authority ?? ""), (":path", head.path ?? "/"),
    ])
    reserveCapacity(fields.count + 5)
    for field in fields {
      add(
        name: field.name.canonicalName, value: field.value,
        indexing: Self.secrets.contains(field.name) ? .neverIndexed : .indexable)
    }
    if acceptsTrailers { add(name: "te", value: "trailers") }
  }
}

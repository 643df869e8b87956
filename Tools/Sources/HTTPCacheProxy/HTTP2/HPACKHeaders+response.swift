import HTTPTypes
import NIOHPACK

extension HPACKHeaders {
  /// The head of a response. Fields for one connection were removed.
  init(_ status: HTTPResponse.Status, _ fields: HTTPFields) {
    self.init([(":status", String(status.code))])
    reserveCapacity(fields.count + 1)
    for field in fields { add(name: field.name.canonicalName, value: field.value) }
  }

  /// Trailers.
  init(_ trailers: HTTPFields) {
    self.init(trailers.map { ($0.name.canonicalName, $0.value) })
  }
}

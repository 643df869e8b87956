import HTTPCacheSemantics
import HTTPTypes
import NIOHPACK
import Synchronization

/// The trailers of a message over HTTP/2, which come in a frame of their own.
final class StreamTrailers: Sendable {
  private let fields = Mutex(HTTPFields())

  /// The fields that came so far.
  var received: HTTPFields { fields.withLock { $0 } }

  func set(_ headers: HPACKHeaders) {
    var trailers: HTTPFields = [:]
    for (name, value, _) in headers {
      guard let name = HTTPField.Name(name), HTTPField.isValidValue(value),
        trailers.appendBounded(HTTPField(name: name, value: value))
      else { continue }
    }
    trailers = HopByHop.trailers(trailers)
    fields.withLock { [trailers] in $0 = trailers }
  }
}

package import HTTPTypes

/// The length of a representation of which octets are there. A strong validator identifies the octets of a
/// representation (RFC 9110 §8.8.1, §13.1.5): a whole response with that validator and that content coding has that
/// length.
package struct KnownLength: Sendable {
  /// The length in bytes.
  package let length: Int64
  private let validator: [UInt8]
  private let coding: String?

  /// Nil if the length is unknown, or nothing identifies the representation.
  ///
  /// - Parameters:
  ///   - length: the length in bytes.
  ///   - validator: the strong validator, as `If-Range` carries it.
  ///   - fields: the fields of the representation.
  package init?(_ length: Int64?, validator: [UInt8]?, of fields: HTTPFields) {
    guard let length, let validator else { return nil }
    self.length = length
    self.validator = validator
    coding = fields[.contentEncoding]
  }

  /// Whether a response has the whole representation, as its validator says.
  package func applies(to response: HTTPResponse, receivedAt time: Timestamp) -> Bool {
    PartialContent.isWhole(status: response.status.code)
      && PartialContent.hasOctets(response, of: validator, coding: coding, receivedAt: time)
  }

  /// Why a response cannot have the whole representation that its validator names; nil if it may have it, or another
  /// one.
  package func contradiction(of response: HTTPResponse, receivedAt time: Timestamp) -> String? {
    guard applies(to: response, receivedAt: time),
      let announced = response.headerFields[.contentLength].flatMap({ Int64($0) }), announced != length
    else { return nil }
    return "the origin sends \(announced) bytes under the validator of \(length) bytes"
  }
}

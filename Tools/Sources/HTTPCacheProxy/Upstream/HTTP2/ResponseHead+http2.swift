import HTTPCacheSemantics
import HTTPTypes
import NIOHPACK
import NIOHTTP1

extension ResponseHead {
  /// The head of a response over HTTP/2 (RFC 9113 §8.3.2). NIOHTTP2 has checked the names, their order, and the fields
  /// for one connection; the values are checked here.
  ///
  /// - Throws: `ProtocolViolation`.
  init(_ headers: HPACKHeaders, limits: MessageLimits) throws(ProtocolViolation) {
    var (code, fields) = (Int?.none, HTTPFields())
    for (name, value, _) in headers {
      if name == ":status" {
        code = value.utf8.count == 3 ? Int(value) : nil
        continue
      }
      guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else {
        throw ProtocolViolation("a field that is not allowed (RFC 9113 §8.2.1)")
      }
      guard fields.appendBounded(HTTPField(name: name, value: value)) else {
        throw ProtocolViolation("more than \(limits.fieldCount) fields")
      }
    }
    guard let code, (100...999).contains(code) else {
      throw ProtocolViolation("an invalid status code (RFC 9110 §15)")
    }
    guard fields.count <= limits.fieldCount else {
      throw ProtocolViolation("more than \(limits.fieldCount) fields")
    }
    // HTTP/2 has no reason phrases; clients of HTTP/1.1 get the usual one.
    status = HTTPResponse.Status(
      code: code, reasonPhrase: HTTPResponseStatus(statusCode: code, reasonPhrase: "").reasonPhrase)
    minorVersion = 1
    self.fields = fields
  }
}

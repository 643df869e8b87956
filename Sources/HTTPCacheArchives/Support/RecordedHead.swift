import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The head of a response that becomes a seed.
struct RecordedHead: Sendable {
  /// The normalised target URI.
  var target: String
  var status: Int
  var fields: HTTPFields
  /// The fields of the request, of which those remain that `Vary` names; nil if they are unknown.
  var request: HTTPFields?
  /// In seconds since 1970.
  var times: (requested: Int64, received: Int64)
  /// Whether the content coding was removed from the body.
  var isDecoded = false

  /// Why it cannot be a seed, whatever its body; nil if it can.
  var objection: String? {
    switch status {
    case 206: "a part of a response"
    case 304: "a 304, which has no body"
    case 200...599: request?.contains(.authorization) == true ? "answers a request with credentials" : nil
    default: "the status \(status)"
    }
  }
}

/// Makes the stored response of a seed from a recorded or an invented head.
enum SeedHead {
  /// The stored response; nil for a head that no request could select again.
  ///
  /// Cookies are dropped: they belong to the client that made the recording. `Content-Length` is the length of the
  /// body. Without the request's fields, `Vary` is dropped, and the response answers every request. A body without its
  /// content coding does not depend on the codings that a client takes: `Vary` then does not name `Accept-Encoding`.
  ///
  /// - Parameter length: the length of the body in bytes.
  static func response(_ head: RecordedHead, length: Int64) -> StoredResponse? {
    guard let parts = TargetURI.parts(of: head.target) else { return nil }
    var fields = head.fields
    for name in [HTTPField.Name.setCookie, .contentLength, .transferEncoding] { fields[fields: name] = [] }
    if head.request == nil { fields[fields: .vary] = [] }
    if head.isDecoded { fields[fields: .vary] = fields[fields: .vary].compactMap(withoutCodings) }
    fields[.contentLength] = String(length)
    return try? StoredResponse.make(
      request: HTTPRequest(
        method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path,
        headerFields: head.request ?? [:]),
      response: ReceivedResponse(
        HTTPResponse(status: .init(code: head.status), headerFields: fields),
        requestTime: Timestamp(seconds: min(head.times.requested, head.times.received)),
        responseTime: Timestamp(seconds: head.times.received)), isDecoded: head.isDecoded,
      rules: CacheRules(), digest: { _ in nil })
  }

  /// A line of `Vary` without `Accept-Encoding`; nil if that leaves nothing.
  private static func withoutCodings(_ line: HTTPField) -> HTTPField? {
    let names = line.text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let rest = names.filter { !$0.isEmpty && $0.lowercased() != "accept-encoding" }
    return rest.isEmpty ? nil : HTTPField(name: .vary, value: rest.joined(separator: ", "))
  }
}

extension TargetURI {
  /// The normalised target of a recorded URL, whose spaces some recorders do not encode; nil if it is not an `http` or
  /// `https` URL.
  static func recorded(_ url: String) -> String? { normalized(url.replacing(" ", with: "%20")) }
}

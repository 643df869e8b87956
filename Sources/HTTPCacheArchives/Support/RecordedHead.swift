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

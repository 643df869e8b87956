import HTTPCaching

/// One line of `httpcache get --json`.
struct JSONReport: Encodable {
  /// Why a response is not stored.
  struct Refusal: Encodable {
    var reason: String
    var section: String
  }

  /// Why there is no response.
  struct Failure: Encodable {
    var kind: String
    var message: String
  }

  var url: String
  var summary: String
  var milliseconds: Double
  var outcome = ""
  var status: Int?
  /// The version of HTTP that the origin answered with; absent for a stored response.
  var httpVersion: String?
  /// The values of each field, by its name in lower case.
  var headers: [String: [String]]?
  var bytes: Int64?
  var finalURL: String?
  var redirects: Int?
  var file: String?
  /// Bytes that the part file or the cache had; absent if all bytes were fetched.
  var continuedFrom: Int64?
  var isStored: Bool?
  var refusal: Refusal?
  var age: Int64?
  var lifetime: Int64?
  var error: Failure?
  var explanation: ExplanationJSON?
  var storing: ExplanationJSON?

  /// The fields for JSON: the values of each name in order, secrets as ….
  static func headers(_ fields: HTTPFields) -> [String: [String]] {
    fields.reduce(into: [:]) { $0[$1.name.canonicalName, default: []].append($1.shownValue) }
  }
}

import Foundation
import HTTPCaching

/// What is known of the bytes of a part file: enough to continue them only with bytes of the same
/// representation.
struct PartRecord: Codable, Equatable {
  /// A field of the response.
  struct Field: Codable, Equatable {
    var name: String
    var value: String
  }

  /// The layout of the record.
  var version = PartRecord.currentVersion
  /// The URL that was asked for, normalised.
  var url: String
  /// The URL that answered, after redirects.
  var target: String
  /// The length of the representation in bytes; nil if it was not told.
  var length: Int64?
  /// When the response came, in seconds since 1970.
  var received: Int64
  /// Whether the bytes came without a check of certificates; nothing is put together of both kinds.
  var isInsecure = false
  /// The fields that tell whether bytes belong together, and the file's name.
  var fields: [Field]

  private static let currentVersion = 1
  private static let kept: Set<String> = [
    "etag", "last-modified", "date", "accept-ranges", "content-encoding", "vary", "content-disposition",
  ]

  /// Makes a record of a response; nil for a response that cannot be continued: no status 200, no strong
  /// validator, a content coding, or ranges refused.
  ///
  /// - Parameters:
  ///   - url: what was asked for, normalised.
  ///   - target: what answered.
  init?(url: String, target: String, head: HTTPResponse, length: Int64?, now: Timestamp) {
    self.url = url
    self.target = target
    self.length = length
    received = now.seconds
    fields = head.headerFields.filter { Self.kept.contains($0.name.canonicalName) }
      .map { Field(name: $0.name.canonicalName, value: $0.value) }
    guard head.status.code == 200, head.headerFields[.contentEncoding] == nil,
      PartialContent.isResumable(stored)
    else { return nil }
    // A date does not tell variants of one resource apart, as a strong entity tag does.
    guard hasEntityTag || head.headerFields[.vary] == nil else { return nil }
  }

  /// Reads a record; nil for anything but a record of a response that can be continued.
  init?(json: Data) {
    guard let record = try? JSONDecoder().decode(PartRecord.self, from: json),
      record.version == Self.currentVersion, record.length ?? 1 > 0,
      PartialContent.isResumable(record.stored)
    else { return nil }
    self = record
  }

  /// The record as it is written.
  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// The response as the rules of RFC 9111 §3.4 know it.
  var stored: StoredResponse {
    var head = HTTPResponse(status: .ok)
    for field in fields {
      guard let name = HTTPField.Name(field.name) else { continue }
      head.headerFields.append(HTTPField(name: name, value: field.value))
    }
    let time = Timestamp(seconds: received)
    return StoredResponse(
      requestMethod: .get, nominated: [], head: head, requestTime: time, responseTime: time,
      facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
  }

  /// Whether another response is of the resource that the part came from.
  ///
  /// The query may differ behind a redirect: signed addresses of downloads change with each request. An
  /// entity tag, unlike a date, then still tells.
  func isSame(target other: String) -> Bool {
    if other == target { return true }
    guard hasEntityTag, target != url else { return false }
    return other.prefix { $0 != "?" } == target.prefix { $0 != "?" }
  }

  private var hasEntityTag: Bool { fields.contains { $0.name == "etag" } }
}

import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// The facts about the response of a part file that ensure that only bytes of one representation are combined.
struct PartRecord: Codable, Equatable {
  /// A field of the response.
  struct Field: Codable, Equatable {
    var name: String
    var value: String
  }

  /// The version of the record's format.
  var version = PartRecord.currentVersion
  /// The requested URL, normalised.
  var url: String
  /// The URL that answered, after redirects.
  var target: String
  /// The length of the representation in bytes; nil if unknown.
  var length: Int64?
  /// The time when the response arrived, in seconds since 1970.
  var received: Int64
  /// Whether the bytes came without a check of certificates. Bytes with and without that check are never combined.
  var isInsecure = false
  /// The fields that identify the representation, and the field with the file's name.
  var fields: [Field]

  private static let currentVersion = 1
  private static let kept: Set<String> = [
    "etag", "last-modified", "date", "accept-ranges", "content-encoding", "vary", "content-disposition",
  ]

  /// Makes a record of a response; nil if the response cannot be continued: a status other than 200, no strong
  /// validator, a content coding, or refused ranges.
  ///
  /// - Parameters:
  ///   - url: the requested URL, normalised.
  ///   - target: the URL that answered.
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
    // Variants of one resource may share a date, but not a strong entity tag.
    guard hasEntityTag || head.headerFields[.vary] == nil else { return nil }
  }

  /// Reads a record; nil if it is not a record of a response that can be continued.
  init?(json: Data) {
    guard let record = try? JSONDecoder().decode(PartRecord.self, from: json),
      record.version == Self.currentVersion, record.length ?? 1 > 0,
      PartialContent.isResumable(record.stored)
    else { return nil }
    self = record
  }

  /// The encoded record.
  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// The response as an incomplete response of RFC 9111 §3.4.
  var stored: StoredResponse {
    var head = HTTPResponse(status: .ok)
    for field in fields {
      guard let name = HTTPField.Name(field.name),
        head.headerFields.appendBounded(HTTPField(name: name, value: field.value))
      else { continue }
    }
    let time = Timestamp(seconds: received)
    return StoredResponse(
      requestMethod: .get, nominated: [], head: head, requestTime: time, responseTime: time,
      facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
  }

  /// Whether another response is of the part file's resource.
  ///
  /// After a redirect the query may differ: signed download URLs change with each request. Then an entity tag still
  /// identifies the resource, but a date does not.
  func isSame(target other: String) -> Bool {
    if other == target { return true }
    guard hasEntityTag, target != url else { return false }
    return other.prefix { $0 != "?" } == target.prefix { $0 != "?" }
  }

  private var hasEntityTag: Bool { fields.contains { $0.name == "etag" } }
}

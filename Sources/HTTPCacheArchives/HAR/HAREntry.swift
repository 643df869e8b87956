import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// One exchange of a HAR file (HAR 1.2), as far as it is read and written here.
struct HAREntry: Codable, Sendable {
  struct Pair: Codable, Sendable, Equatable {
    var name: String
    var value: String
  }

  struct Content: Codable, Sendable {
    var size: Int64?
    var mimeType: String?
    var text: String?
    var encoding: String?
    /// Whether the content coding that the fields name was kept: HAR itself means the decoded body.
    var isCoded: Bool?
    /// Whether the text is in hex, in files of Polly.js before its version 6.
    var isBinary: Bool?

    enum CodingKeys: String, CodingKey {
      case size, mimeType, text, encoding
      case isCoded = "_isCoded"
      case isBinary = "_isBinary"
    }
  }

  struct PostData: Codable, Sendable {
    var mimeType: String?
    var text: String?
    /// The parameters of a form, decoded; a recording may have them without a text.
    var params: [Pair]?
    var encoding: String?

    enum CodingKeys: String, CodingKey {
      case mimeType, text, params
      case encoding = "_encoding"
    }
  }

  struct Request: Codable, Sendable {
    var method: String
    var url: String
    var httpVersion: String?
    var headers: [Pair]?
    var queryString: [Pair]?
    var cookies: [Pair]?
    var headersSize: Int?
    var bodySize: Int64?
    var postData: PostData?
  }

  struct Response: Codable, Sendable {
    var status: Int
    var statusText: String?
    var httpVersion: String?
    var headers: [Pair]?
    var cookies: [Pair]?
    var content: Content?
    var redirectURL: String?
    var headersSize: Int?
    var bodySize: Int64?
  }

  struct Timings: Codable, Sendable {
    var blocked: Double?
    var dns: Double?
    var connect: Double?
    var send: Double?
    var wait: Double?
    var receive: Double?
  }

  struct Cache: Codable, Sendable {}

  var startedDateTime: String?
  var time: Double?
  var request: Request
  var response: Response
  var cache: Cache?
  var timings: Timings?
}

extension HAREntry {
  // Members that are not used here may be of any kind: programs write null, texts and fractions where HAR 1.2 has
  // numbers, and lists of their own.

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      startedDateTime: members.lenient(String.self, .startedDateTime),
      time: members.lenient(Double.self, .time),
      request: try members.decode(Request.self, forKey: .request),
      response: try members.decode(Response.self, forKey: .response), cache: Cache(),
      timings: members.lenient(Timings.self, .timings))
  }
}

extension HAREntry.Request {
  /// The methods of RFC 9110 §9.3. Some programs write them in lower case.
  private static let methods: Set = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE",
  ]

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    let method = try members.decode(String.self, forKey: .method)
    let standard = method.uppercased()
    self.init(
      method: Self.methods.contains(standard) ? standard : method,
      url: try members.decode(String.self, forKey: .url),
      headers: try members.pairs(.headers),
      postData: members.lenient(HAREntry.PostData.self, .postData))
  }
}

extension HAREntry.PostData {
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      mimeType: members.lenient(String.self, .mimeType), text: members.lenient(String.self, .text),
      params: try? members.pairs(.params), encoding: members.lenient(String.self, .encoding))
  }
}

extension HAREntry.Response {
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      status: try members.decode(Int.self, forKey: .status),
      statusText: members.lenient(String.self, .statusText),
      headers: try members.pairs(.headers),
      content: try members.decodeIfPresent(HAREntry.Content.self, forKey: .content),
      bodySize: members.count(.bodySize))
  }
}

extension HAREntry.Content {
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      size: members.count(.size), mimeType: members.lenient(String.self, .mimeType),
      text: try members.decodeIfPresent(String.self, forKey: .text),
      encoding: try members.decodeIfPresent(String.self, forKey: .encoding),
      isCoded: members.lenient(Bool.self, .isCoded), isBinary: members.lenient(Bool.self, .isBinary))
  }
}

extension HAREntry.Timings {
  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      blocked: members.lenient(Double.self, .blocked), dns: members.lenient(Double.self, .dns),
      connect: members.lenient(Double.self, .connect), send: members.lenient(Double.self, .send),
      wait: members.lenient(Double.self, .wait), receive: members.lenient(Double.self, .receive))
  }
}

extension KeyedDecodingContainer {
  /// A member; nil if it is missing, null or of another kind.
  fileprivate func lenient<Value: Decodable>(_ kind: Value.Type, _ key: Key) -> Value? {
    try? decodeIfPresent(kind, forKey: key)
  }

  /// A list of fields; those without a name or a value are left out.
  fileprivate func pairs(_ key: Key) throws -> [HAREntry.Pair]? {
    try decodeIfPresent([LenientPair?].self, forKey: key)?.compactMap { $0?.pair }
  }

  /// A text, also one written as a number or a Boolean.
  fileprivate func text(_ key: Key) -> String? {
    if let text = lenient(String.self, key) { return text }
    if let number = lenient(Int64.self, key) { return String(number) }
    if let number = lenient(Double.self, key) { return String(number) }
    return lenient(Bool.self, key).map { String($0) }
  }

  /// A number of bytes, also one written as a fraction or as a text.
  fileprivate func count(_ key: Key) -> Int64? {
    lenient(Int64.self, key) ?? lenient(Double.self, key).flatMap { Int64(exactly: $0.rounded()) }
      ?? lenient(String.self, key).flatMap { Int64($0) }
  }
}

/// A field as programs write it: its value may be a number, null or missing.
private struct LenientPair: Decodable {
  private enum CodingKeys: String, CodingKey {
    case name, value
  }

  /// Nil without a name or a value.
  let pair: HAREntry.Pair?

  init(from decoder: any Decoder) throws {
    guard let members = try? decoder.container(keyedBy: CodingKeys.self),
      let name = members.lenient(String.self, .name), let value = members.text(.value)
    else {
      pair = nil
      return
    }
    pair = HAREntry.Pair(name: name, value: value)
  }
}

extension HAREntry {
  /// Whether the response had a body that the recording does not have (HAR 1.2: `text` is optional).
  var lacksBody: Bool {
    let content = response.content
    if let text = content?.text, !text.isEmpty { return false }
    let fields = headers(response.headers)
    if needsNoBody(fields) { return false }
    if expectedLength ?? 0 > 0 { return true }
    let isCoded = Self.isCoded(fields)
    let announced = fields["content-length"].flatMap { Int64($0) }
    // The coded form of an empty body has bytes.
    if let announced, announced > 0, !isCoded || content?.text == nil { return true }
    if content?.text != nil || announced == 0 { return false }
    return content?.size != 0 || response.bodySize ?? 0 > 0
  }

  /// Whether the response is whole without a body, whatever length is recorded: it has none (RFC 9110 §6.4.1 and
  /// §15.3.6), or clients follow it without its body, which browsers do not read (§15.4).
  private func needsNoBody(_ fields: [String: String]) -> Bool {
    request.method == "HEAD" || [204, 205, 304].contains(response.status)
      || (300..<400).contains(response.status) && fields["location"] != nil
  }

  /// The length that the recorded body should have; nil if it is not known, or if the response is whole without one.
  /// mitmproxy writes the length of the coded body as `size`, beside the decoded text.
  var expectedLength: Int64? {
    guard let content = response.content, let size = content.size else { return nil }
    let fields = headers(response.headers)
    if content.text?.isEmpty ?? true, needsNoBody(fields) { return nil }
    guard content.text != nil, content.isCoded != true, Self.isCoded(fields) else { return size }
    let announced = fields["content-length"].flatMap { Int64($0) }
    return size == response.bodySize || size == announced ? nil : size
  }

  private static func isCoded(_ fields: [String: String]) -> Bool {
    fields["content-encoding"].map { $0.lowercased() != "identity" } ?? false
  }

  private func headers(_ pairs: [Pair]?) -> [String: String] {
    let fields = (pairs ?? []).map { ($0.name.lowercased(), $0.value.trimmingCharacters(in: [" ", "\t"])) }
    return Dictionary(fields) { first, _ in first }
  }
}

extension HAREntry.Response {
  /// The fields that HTTP allows.
  ///
  /// - Throws: `CacheError.damaged` for more than `HTTPFields.countLimit`.
  var fields: HTTPFields { get throws(CacheError) { try HAREntry.fields(headers ?? []) } }
}

extension HAREntry.Request {
  /// The fields that HTTP allows.
  ///
  /// - Throws: `CacheError.damaged` for more than `HTTPFields.countLimit`.
  var fields: HTTPFields { get throws(CacheError) { try HAREntry.fields(headers ?? []) } }
}

extension HAREntry {
  fileprivate static func fields(_ pairs: [Pair]) throws(CacheError) -> HTTPFields {
    let tooMany = CacheError(.damaged, "a head of more than \(HTTPFields.countLimit) fields")
    var fields: HTTPFields = [:]
    for pair in pairs {
      // The pseudo-header fields of HTTP/2, which browsers list, have no valid name.
      guard let name = HTTPField.Name(pair.name) else { continue }
      // Chromium joins the lines of a repeated field.
      for line in pair.value.split(whereSeparator: \.isNewline) {
        // White space at the ends is not part of a value (RFC 9110 §5.5).
        let value = line.trimmingCharacters(in: [" ", "\t"])
        guard HTTPField.isValidValue(value) else { continue }
        guard fields.appendBounded(HTTPField(name: name, value: value)) else { throw tooMany }
      }
      if pair.value.isEmpty, !fields.appendBounded(HTTPField(name: name, value: "")) { throw tooMany }
    }
    return fields
  }
}

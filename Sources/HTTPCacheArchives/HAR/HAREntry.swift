import Foundation

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

    enum CodingKeys: String, CodingKey {
      case size, mimeType, text, encoding
      case isCoded = "_isCoded"
    }
  }

  struct PostData: Codable, Sendable {
    var mimeType: String?
    var text: String?
    var encoding: String?

    enum CodingKeys: String, CodingKey {
      case mimeType, text
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

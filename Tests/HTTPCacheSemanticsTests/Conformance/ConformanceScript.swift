import Foundation
import HTTPCacheSemantics
import HTTPTypes

/// A test of the public suite, as its JSON export has it.
struct ConformanceScript: Decodable {
  struct Suite: Decodable {
    let tests: [ConformanceScript]
  }

  /// A name, or a name with a value, a number of seconds from now, or a comparison.
  struct Field: Decodable {
    let name: String
    let parts: [Value]

    init(from decoder: any Decoder) throws {
      if var list = try? decoder.unkeyedContainer() {
        name = try list.decode(String.self)
        var parts: [Value] = []
        while !list.isAtEnd { parts.append(try list.decode(Value.self)) }
        self.parts = parts
      } else {
        name = try decoder.singleValueContainer().decode(String.self)
        parts = []
      }
    }
  }

  enum Value: Decodable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case other

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? container.decode(Int64.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else {
        self = .other
      }
    }
  }

  struct Step: Decodable {
    var request_method: String?
    var request_headers: [Field]?
    var response_headers: [Field]?
    var response_status: [Value]?
    var response_body: String?
    var expected_type: String?
    var expected_status: Int?
    var expected_response_headers: [Field]?
    var expected_response_headers_missing: [Field]?
    var expected_request_headers: [Field]?
    var expected_response_text: String?
    var expected_method: String?
    var filename: String?
    var query_arg: String?
    var cache: String?
    var check_body: Bool?
    var pause_after: Bool?
    var disconnect: Bool?
    var magic_ims: Bool?
    var magic_locations: Bool?
    var rfc850date: [String]?
    var response_pause: Int64?
    /// Whether the key is there with the value null, which means that any status will do.
    var anyStatus = false

    enum CodingKeys: String, CodingKey {
      case request_method, request_headers, response_headers, response_status, response_body
      case expected_type, expected_status, expected_response_headers
      case expected_response_headers_missing, expected_request_headers, expected_response_text
      case expected_method, filename, query_arg, cache, check_body, pause_after, disconnect
      case magic_ims, magic_locations, rfc850date, response_pause
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      request_method = try values.decodeIfPresent(String.self, forKey: .request_method)
      request_headers = try values.decodeIfPresent([Field].self, forKey: .request_headers)
      response_headers = try values.decodeIfPresent([Field].self, forKey: .response_headers)
      response_status = try values.decodeIfPresent([Value].self, forKey: .response_status)
      response_body = try values.decodeIfPresent(String.self, forKey: .response_body)
      expected_type = try values.decodeIfPresent(String.self, forKey: .expected_type)
      expected_status = try values.decodeIfPresent(Int.self, forKey: .expected_status)
      anyStatus = values.contains(.expected_status) && expected_status == nil
      expected_response_headers = try values.decodeIfPresent(
        [Field].self, forKey: .expected_response_headers)
      expected_response_headers_missing = try values.decodeIfPresent(
        [Field].self, forKey: .expected_response_headers_missing)
      expected_request_headers = try values.decodeIfPresent(
        [Field].self, forKey: .expected_request_headers)
      expected_response_text = try values.decodeIfPresent(
        String.self, forKey: .expected_response_text)
      expected_method = try values.decodeIfPresent(String.self, forKey: .expected_method)
      filename = try values.decodeIfPresent(String.self, forKey: .filename)
      query_arg = try values.decodeIfPresent(String.self, forKey: .query_arg)
      cache = try values.decodeIfPresent(String.self, forKey: .cache)
      check_body = try values.decodeIfPresent(Bool.self, forKey: .check_body)
      pause_after = try values.decodeIfPresent(Bool.self, forKey: .pause_after)
      disconnect = try values.decodeIfPresent(Bool.self, forKey: .disconnect)
      magic_ims = try values.decodeIfPresent(Bool.self, forKey: .magic_ims)
      magic_locations = try values.decodeIfPresent(Bool.self, forKey: .magic_locations)
      rfc850date = try values.decodeIfPresent([String].self, forKey: .rfc850date)
      response_pause = try values.decodeIfPresent(Int64.self, forKey: .response_pause)
    }
  }

  let id: String
  let kind: String?
  let requests: [Step]
  let browser_only: Bool?
  let browser_skip: Bool?
  let cdn_only: Bool?

  /// Whether it is about caches of this mode.
  func applies(to mode: CacheMode) -> Bool {
    mode == .shared ? browser_only != true : browser_skip != true && cdn_only != true
  }
}

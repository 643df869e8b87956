import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// A line of the driver's input. Field values are octets, given as code points 0 to 255.
struct DriveRequest: Decodable, Sendable {
  let id: Int
  let method: String
  let url: String
  let headers: [[String]]
  let body: String?
  let cacheMode: String?

  private enum CodingKeys: String, CodingKey {
    case id, method, url, headers, body
    case cacheMode = "cache_mode"
  }

  /// The part of a line that identifies its reply.
  struct Identity: Decodable {
    let id: Int
  }

  /// Why a line cannot be performed.
  struct Invalid: Error, CustomStringConvertible {
    let description: String

    init(description: String) { self.description = description }

    /// - Parameter error: why the line could not be decoded.
    init(decoding error: any Error) {
      switch error as? DecodingError {
      case .keyNotFound(let key, _): description = "the key \(key.stringValue) is missing"
      case .typeMismatch(_, let context), .valueNotFound(_, let context):
        let key = context.codingPath.first?.stringValue
        description = key.map { "the value of \($0) has another type" } ?? "the line is not an object of JSON"
      default: description = "the line is not JSON"
      }
    }
  }

  /// The policy for a cache mode of the Fetch standard.
  func policy() throws(Invalid) -> CachePolicy {
    switch cacheMode {
    case nil, "default": .standard
    case "no-store": .bypass
    case "reload": .reloadEverywhere
    case "no-cache": .revalidate
    case "force-cache": .cacheElseNetwork
    case "only-if-cached": .cacheOnly
    case let mode?: throw Invalid(description: "no cache mode: \(mode)")
    }
  }

  /// The line's request.
  func request() throws(Invalid) -> HTTPRequest {
    guard let target = try? TargetURL(parsing: url) else {
      throw Invalid(description: "not an http or https URL: \(url)")
    }
    guard let method = HTTPRequest.Method(method) else {
      throw Invalid(description: "not a method: \(self.method)")
    }
    var request = target.request(method)
    for pair in headers {
      guard pair.count == 2, let name = HTTPField.Name(pair[0]) else {
        throw Invalid(description: "no field: \(pair)")
      }
      guard request.headerFields.appendBounded(HTTPField(name: name, value: try Self.octets(pair[1]))) else {
        throw Invalid(description: "more than \(HTTPFields.countLimit) fields")
      }
    }
    return request
  }

  private static func octets(_ text: String) throws(Invalid) -> [UInt8] {
    var octets: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard let octet = UInt8(exactly: scalar.value), ![0, 0x0A, 0x0D].contains(octet) else {
        throw Invalid(description: "a field value needs code points from 0 to 255: \(text)")
      }
      octets.append(octet)
    }
    return octets
  }
}

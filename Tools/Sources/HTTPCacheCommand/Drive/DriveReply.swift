import Foundation
import HTTPCaching

/// A line of the driver's output.
struct DriveReply: Encodable, Sendable {
  /// A 1xx response.
  struct Interim: Encodable, Sendable {
    let status: Int
    let headers: [[String]]

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(status)
      try container.encode(headers)
    }
  }

  let id: Int
  var status: Int?
  var headers: [[String]]?
  var body: String?
  var interim: [Interim]?
  var error: String?

  /// The longest body in bytes that is read for a reply.
  static let bodyLimit = 64 << 20

  /// The fields in order, each value as code points 0 to 255.
  static func headers(_ fields: HTTPFields) -> [[String]] {
    fields.map { field in
      [field.name.rawName, field.withUnsafeBytesOfValue { octets(Array($0)) }]
    }
  }

  /// Octets as code points 0 to 255.
  static func octets(_ octets: [UInt8]) -> String {
    String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
  }
}

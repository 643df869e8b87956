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

  /// The fields in order, each value as code points 0 to 255.
  static func headers(_ fields: HTTPFields) -> [[String]] {
    fields.map { field in
      let value = field.withUnsafeBytesOfValue { bytes in
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
      }
      return [field.name.rawName, value]
    }
  }
}

/// A reply of a server, in version 2 of the Redis serialization protocol (RESP2).
enum RESPValue: Sendable, Hashable {
  /// A simple string, without its end of line.
  case simple([UInt8])
  /// An error: the first word is its code.
  case error(String)
  case integer(Int64)
  case bulk([UInt8])
  case array([RESPValue])
  /// A null bulk string or a null array.
  case null

  /// The bytes of a string of either kind.
  var bytes: [UInt8]? {
    switch self {
    case .simple(let bytes), .bulk(let bytes): bytes
    case .error, .integer, .array, .null: nil
    }
  }

  /// A string as text; nil if it is not UTF-8.
  var text: String? { bytes.flatMap { String(validating: $0, as: UTF8.self) } }

  /// An integer, or a string that is one.
  var number: Int64? {
    switch self {
    case .integer(let number): number
    case .simple(let bytes), .bulk(let bytes): RESPNumber.parse(bytes)
    case .error, .array, .null: nil
    }
  }

  /// The elements of an array.
  var elements: [RESPValue]? {
    switch self {
    case .array(let elements): elements
    case .simple, .error, .integer, .bulk, .null: nil
    }
  }

  /// The values of an array of names and values, by name. A name that is not UTF-8 is left out with its value.
  var fields: [String: RESPValue]? {
    guard let elements else { return nil }
    var fields: [String: RESPValue] = [:]
    for index in stride(from: 0, to: elements.count - 1, by: 2) {
      if let name = elements[index].text { fields[name] = elements[index + 1] }
    }
    return fields
  }
}

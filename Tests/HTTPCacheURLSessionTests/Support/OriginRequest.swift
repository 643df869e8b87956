/// A request as it arrived over the socket.
struct OriginRequest: Sendable {
  /// The number of the request at its origin, from 1.
  var number: Int
  let method: String
  let target: String
  let fields: [(name: String, value: String)]
  var body: [UInt8] = []

  /// The values of a field, joined; nil if it is absent.
  subscript(name: String) -> String? {
    let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The path without the query.
  var path: String { String(target.prefix { $0 != "?" }) }

  var bodyText: String { String(decoding: body, as: UTF8.self) }

  /// The only range in `Range`, for a body of `length` bytes; nil if there is none, or none that fits.
  func range(of length: Int64) -> Range<Int64>? {
    guard let value = self["Range"], value.hasPrefix("bytes="), !value.contains(",") else { return nil }
    let ends = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    if ends[0].isEmpty { return Int64(ends[1]).map { max(0, length - $0)..<length } }
    guard let first = Int64(ends[0]), first < length else { return nil }
    let last = min(Int64(ends[1]) ?? length - 1, length - 1)
    return first <= last ? first..<last + 1 : nil
  }
}

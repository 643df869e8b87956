package import HTTPTypes

/// The fields of a request that affect reuse, found in one pass over its fields: a plain request, which has
/// none, is then not searched for each of them.
package struct RequestFeatures: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `Cache-Control` or `Pragma` (RFC 9111 §5.2, §5.4).
  package static let directives = RequestFeatures(rawValue: 1)
  /// `If-Match` or `If-Unmodified-Since`, which the origin evaluates (RFC 9111 §4.3.2).
  package static let originConditions = RequestFeatures(rawValue: 2)
  /// `If-None-Match` or `If-Modified-Since` (RFC 9111 §4.3.2).
  package static let conditions = RequestFeatures(rawValue: 4)
  /// `Range` (RFC 9110 §14.2).
  package static let range = RequestFeatures(rawValue: 8)

  /// Content: `Content-Length` other than 0, or `Transfer-Encoding` (RFC 9112 §6).
  package static let content = RequestFeatures(rawValue: 16)
  /// `Host`, which may name another site than the target (RFC 9110 §7.2).
  package static let host = RequestFeatures(rawValue: 32)

  package init(_ fields: HTTPFields) {
    var found: RequestFeatures = []
    for index in fields.indices {
      let name = fields[index].name.canonicalName
      // Comparing lengths first avoids most text comparisons.
      switch name.utf8.count {
      case 4 where name == "host": found.insert(.host)
      case 5 where name == "range": found.insert(.range)
      case 6 where name == "pragma": found.insert(.directives)
      case 8 where name == "if-match": found.insert(.originConditions)
      case 13 where name == "cache-control": found.insert(.directives)
      case 13 where name == "if-none-match": found.insert(.conditions)
      case 14 where name == "content-length":
        if fields[index].withUnsafeBytesOfValue({ $0.trimmed().decimal != 0 }) { found.insert(.content) }
      case 17 where name == "if-modified-since": found.insert(.conditions)
      case 17 where name == "transfer-encoding": found.insert(.content)
      case 19 where name == "if-unmodified-since": found.insert(.originConditions)
      default: break
      }
    }
    self = found
  }
}

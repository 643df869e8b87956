import HTTPCacheSemantics
import HTTPTypes

extension CacheRecord {
  // Memory besides the text: objects, the table's slot, the place in the order, the share of the sketch, and
  // the spare space of growing tables.
  private static var overhead: Int64 { 1_080 }
  // Two string headers, a name object, and the allocator's rounding.
  private static var fieldOverhead: Int64 { 64 }

  /// An estimate of the bytes of memory that the record takes, without the body.
  var memoryCost: Int64 {
    var cost = Self.overhead + Int64(key.target.utf8.count + key.partition.utf8.count)
    cost += Int64(key.contentDigest.count + userInfo.count)
    cost += Self.cost(of: response.head.headerFields) + Self.cost(of: response.trailers)
    // The head of the last answer shares the text.
    cost += Int64((response.head.headerFields.count + 1) * MemoryLayout<HTTPField>.stride)
    for field in response.nominated {
      cost += Self.fieldOverhead + Int64(field.name.rawName.utf8.count)
      switch field.value {
      case .absent: break
      case .text(let text): cost += Int64(text.utf8.count)
      case .digest(let digest): cost += Int64(digest.count)
      }
    }
    for group in groups { cost += Self.fieldOverhead + Int64(group.utf8.count) }
    return cost
  }

  private static func cost(of fields: HTTPFields) -> Int64 {
    fields.reduce(0) { sum, field in
      sum + fieldOverhead + Int64(field.name.rawName.utf8.count + field.value.utf8.count)
    }
  }
}

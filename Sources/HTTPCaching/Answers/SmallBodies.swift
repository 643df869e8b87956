import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Compares bodies that are small enough to be held in memory.
enum SmallBodies {
  /// The longest body that is compared, in bytes.
  static let limit = 64 << 10

  /// Whether a new response has the same bytes as a stored one. Reads the new body; if the bytes differ, `new`
  /// gets a body that begins with the bytes already read.
  ///
  /// A stored body that cannot be read counts as different.
  ///
  /// - Throws: what the new body throws.
  static func areEqual(_ stored: CacheResponse, _ new: inout CacheResponse) async throws -> Bool {
    guard let old = stored.body.source.stored,
      let count = Int(exactly: old.range.upperBound - old.range.lowerBound), count <= limit,
      new.body.length.map({ $0 == Int64(count) }) ?? true,
      !new.head.status.hasNoContent, describesSame(stored.head, new.head)
    else { return false }
    var pieces: [BodyBytes] = []
    var received = 0
    while let bytes = try await new.body.source.next() {
      pieces.append(bytes)
      received += bytes.count
      if received > count { break }
    }
    if received == count, let bytes = try? await old.reader.readAll(old.range).array,
      bytes == pieces.flatMap(\.array)
    {
      return true
    }
    new.body = MessageBody(ResumedSource(pieces, rest: new.body))
    return false
  }

  /// Whether both heads have the same type, coding and range: else equal bytes mean something different.
  private static func describesSame(_ first: HTTPResponse, _ second: HTTPResponse) -> Bool {
    [HTTPField.Name.contentType, .contentEncoding, .contentRange].allSatisfy {
      first.headerFields[fields: $0] == second.headerFields[fields: $0]
    }
  }
}

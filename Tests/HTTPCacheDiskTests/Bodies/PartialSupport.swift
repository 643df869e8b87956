import CSQLite
import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

/// A record of a body that can be resumed.
func resumable(_ path: String, _ length: Int64?) throws -> CacheRecord {
  let plain = try record(path)
  return CacheRecord(
    key: plain.key, response: plain.response, bodyLength: length, userInfo: plain.userInfo,
    isResumable: true)
}

extension DiskStore {
  /// Stores the bytes of a body at `range`.
  @discardableResult
  func putPart(_ path: String, _ body: [UInt8], _ range: Range<Int>) async throws -> CacheRecord {
    let wanted = try record(path).storing(
      [Int64(range.lowerBound)..<Int64(range.upperBound)], bodyLength: Int64(body.count))
    return try await put(wanted, Array(body[range]))
  }

  /// Adds the bytes of a body at `range` to the only variant of a key.
  @discardableResult
  func addPart(_ path: String, _ body: [UInt8], _ range: Range<Int>) async throws -> CacheRecord {
    let stored = try #require(try read(key(path)).first).record
    let writer = try await extend(stored, at: Int64(range.lowerBound))
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 50_000) {
      try await writer.append(BodyBytes(body[start..<min(range.upperBound, start + 50_000)]))
    }
    return try await writer.commit(trailers: [:])
  }

  /// The bytes of a stored range of the only variant of a key.
  func bytes(_ path: String, _ range: Range<Int>) async throws -> [UInt8] {
    let reader = try #require(try read(key(path)).first).body.open()
    return try await reader.read(Int64(range.lowerBound)..<Int64(range.upperBound)).array
  }

  /// The stored ranges of the only variant of a key.
  func ranges(_ path: String) throws -> [Range<Int64>]? {
    try read(key(path)).first?.record.storedRanges
  }
}

/// The first column of the first row of a query, as a number.
func number(_ sql: String, on path: String) throws -> Int64 {
  var handle: OpaquePointer?
  var statement: OpaquePointer?
  defer {
    sqlite3_finalize(statement)
    sqlite3_close_v2(handle)
  }
  try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
  sqlite3_busy_timeout(handle, 2_000)
  try #require(
    sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
    "\(String(cString: sqlite3_errmsg(handle)))")
  try #require(sqlite3_step(statement) == SQLITE_ROW)
  return sqlite3_column_int64(statement, 0)
}

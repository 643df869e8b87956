import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// A stored partial body to which bytes are added, with the right to write into its file.
struct GrowingPart: Sendable {
  let id: Int64
  /// The record of the caller, with what is stored now.
  let record: CacheRecord
  let name: BodyName
  let file: CacheFile
  let lock: BodyLock
  let pieces: StoredPieces

  /// Takes the lock of the file and reads the row; on the index thread.
  ///
  /// - Parameters:
  ///   - wanted: the response, with the length of its body if it is known.
  ///   - offset: the position at which bytes are added.
  /// - Throws: `CacheError.unavailable` if the part is not stored, is of a body of another length, or if another writer
  ///   is adding to it; `CacheError.tooLarge`, `CacheError.damaged`, `CacheError.io`.
  init(of wanted: CacheRecord, extendedAt offset: Int64, in opened: OpenDirectory) throws(CacheError) {
    // If this process ends while adding bytes, other processes find its free owner lock.
    try opened.ownership.become()
    guard let name = try Self.stored(wanted, in: opened).row.file,
      let lock = BodyLock(name, in: opened.directory)
    else { throw CacheError(.unavailable, "another writer adds to this part", key: wanted.key) }
    do throws(CacheError) {
      // Read the row again: another process may have changed or removed it before the lock was taken.
      let stored = try Self.stored(wanted, in: opened).record
      let ranges = stored.storedRanges ?? []
      guard !StoredRanges.isFull(ranges, at: offset), offset <= StoredPieces.farthest
      else { throw CacheError(.tooLarge, "too many parts, or too far away", key: wanted.key) }
      let length = try wanted.length(over: stored)
      id = Int64(bitPattern: wanted.sequence)
      pieces = try opened.index.pieces(of: id)
      guard let file = try opened.directory.openBody(name, flags: CacheFile.writing)?.file,
        pieces.ranges == ranges, try file.size() >= pieces.end
      else {
        // If the row was removed a moment ago, that is no damage.
        _ = try Self.stored(wanted, in: opened)
        throw CacheError(.damaged, "parts of the body are missing", key: wanted.key)
      }
      record = wanted.storing(ranges, bodyLength: length)
      (self.name, self.file, self.lock) = (name, file, lock)
    } catch {
      opened.removeIfOrphaned(name)
      throw error
    }
  }

  /// - Throws: `CacheError.unavailable` if no part of the body is stored.
  private static func stored(
    _ record: CacheRecord, in opened: OpenDirectory
  ) throws(CacheError) -> (row: EntryRow, record: CacheRecord) {
    let id = Int64(bitPattern: record.sequence)
    let entry = try opened.index.read { (connection) throws(CacheError) in try connection.entry(id) }
    guard let entry, entry.row.isPartial, let stored = entry.record, stored.key == record.key else {
      throw CacheError(.unavailable, "no part of it is stored", key: record.key)
    }
    return (entry.row, stored)
  }
}

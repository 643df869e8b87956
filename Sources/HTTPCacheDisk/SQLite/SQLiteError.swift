import CSQLite
import HTTPCacheStore

/// Makes a cache error of a result code of SQLite.
enum SQLiteError {
  static func make(_ result: Int32, on handle: OpaquePointer?, during operation: String) -> CacheError {
    let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? ""
    let message = "\(operation): \(text.isEmpty ? String(cString: sqlite3_errstr(result)) : text)"
    let systemError = handle.map { sqlite3_system_errno($0) } ?? 0
    switch result & 0xFF {
    case SQLITE_FULL: return CacheError(.noSpace, message, cause: FullFileSystem())
    case SQLITE_BUSY, SQLITE_LOCKED: return CacheError(.busy, message)
    // Our statements fit our tables. If a statement does not fit, the schema or a row is damaged.
    case SQLITE_ERROR where ["prepare", "execute"].contains(operation), SQLITE_CORRUPT, SQLITE_NOTADB,
      SQLITE_FORMAT,
      SQLITE_MISMATCH, SQLITE_CONSTRAINT:
      return CacheError(.damaged, message, cause: IndexDamage())
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      return CacheError(.unavailable, message)
    case SQLITE_TOOBIG: return CacheError(.tooLarge, message)
    case SQLITE_IOERR where FullFileSystem.isMeant(by: systemError):
      return CacheError(.noSpace, message, cause: FullFileSystem())
    default: return CacheError(.io, message)
    }
  }
}

/// Marks damage of the index as a whole, which must be replaced. Damage of one record or body only costs its entry.
struct IndexDamage: Error, CustomStringConvertible {
  var description: String { "the index is damaged" }
}

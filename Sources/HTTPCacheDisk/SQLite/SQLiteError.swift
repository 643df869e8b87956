import CSQLite
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a result code of SQLite means to a cache.
enum SQLiteError {
  static func make(_ result: Int32, _ handle: OpaquePointer?, _ operation: String) -> CacheError {
    let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? ""
    let message = "\(operation): \(text.isEmpty ? String(cString: sqlite3_errstr(result)) : text)"
    let systemError = handle.map { sqlite3_system_errno($0) } ?? 0
    switch result & 0xFF {
    case SQLITE_FULL: return CacheError(.noSpace, message, cause: FullFileSystem())
    case SQLITE_BUSY, SQLITE_LOCKED: return CacheError(.busy, message)
    // What we ask fits our own tables, so what does not fit is damage, in the schema or in a row.
    case SQLITE_ERROR where ["prepare", "execute"].contains(operation), SQLITE_CORRUPT, SQLITE_NOTADB,
      SQLITE_FORMAT,
      SQLITE_MISMATCH, SQLITE_CONSTRAINT:
      return CacheError(.damaged, message, cause: IndexDamage())
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      return CacheError(.unavailable, message)
    case SQLITE_TOOBIG: return CacheError(.tooLarge, message)
    case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT:
      return CacheError(.noSpace, message, cause: FullFileSystem())
    default: return CacheError(.io, message)
    }
  }
}

/// Marks an error as one of the index as a whole, which calls for a new one; damage of one record or
/// body only costs that entry.
struct IndexDamage: Error, CustomStringConvertible {
  var description: String { "the index is damaged" }
}

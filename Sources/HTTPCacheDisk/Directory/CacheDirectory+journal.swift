#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension CacheDirectory {
  /// Removes a pipe, folder or link in the place of the index's rollback journal: SQLite would wait for a
  /// pipe for ever. The index has such a journal only while it is made; later it uses a write-ahead log.
  static func removeMisplacedJournal(of database: String) {
    let path = database + "-journal"
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    if unlink(path) != 0 { rmdir(path) }
  }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension CacheDirectory {
  /// Removes what is no file in the place of a database's journal: SQLite would wait for a pipe for ever. The
  /// index has a journal only for the moment in which it is made.
  static func removeMisplacedJournal(of database: String) {
    let path = database + "-journal"
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    if unlink(path) != 0 { rmdir(path) }
  }
}

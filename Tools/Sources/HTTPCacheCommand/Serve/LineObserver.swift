import HTTPCacheProxy
import HTTPCaching

/// Writes each event of the cache as a line.
struct LineObserver: CacheObserver {
  let writer: LineWriter

  func observe(_ event: CacheEvent) { writer.add("httpcache: \(event)\n") }
}

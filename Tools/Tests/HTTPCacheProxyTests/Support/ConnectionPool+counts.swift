import Synchronization

@testable import HTTPCacheProxy

extension ConnectionPool {
  /// The number of open connections, and of idle ones among them.
  var counts: (open: Int, idle: Int) {
    (state.withLock { $0.origins.values.reduce(0) { $0 + $1.open } }, idleCount.load(ordering: .relaxed))
  }
}

extension NIOUpstream {
  /// The number of open connections, and of idle ones among them.
  var connectionCounts: (open: Int, idle: Int) { pool.counts }
}

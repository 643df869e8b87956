import HTTPCacheSemantics

/// One line of the script of a world.
enum Operation: Sendable {
  struct Client: Sendable {
    enum Method: Sendable { case get, head, put }
    enum Reading: Sendable { case whole, leaves }

    var method = Method.get
    var process = 0
    var target = 0
    var partition = 0
    var form = "a"
    var policy = CachePolicy.standard
    /// The octets that it asks for; an upper bound of `Int.max` asks for all from the lower bound on.
    var range: Range<Int>?
    var reading = Reading.whole
    /// The most time for the origin's head; nil is without limit.
    var timeout: Duration?
    /// Fields that ask the simulated origin for `Clear-Site-Data` and `Cache-Group-Invalidation`.
    var clearsSite = false
    var invalidatesGroup = false
  }

  struct Purge: Sendable {
    enum Scope: Sendable, CaseIterable { case target, key, prefix, group, partition, all }

    var process = 0
    var target = 0
    var partition = 0
    var scope = Scope.target
    /// Whether it removes instead of invalidating.
    var removes = false
  }

  case client(Client)
  case purge(Purge)
  /// Cancels the caller with this number, counted back from the latest.
  case cancel(back: Int)
  /// The origin changes a target; the cache is not told.
  case change(target: Int)
  case advance(seconds: Int)
  case jump(seconds: Int)
  /// Something happens to the tier of a fleet.
  case tier(TierFault)
  /// Waits until all running operations are done.
  case settle
}

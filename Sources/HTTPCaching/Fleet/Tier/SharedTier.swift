public import HTTPCacheSemantics

/// A place on the network where the caches of several nodes keep responses for each other, and a log of the changes that
/// all of them make. A tier stores and orders; each node decides what may be used.
///
/// Each function ends within the deadline that its implementation documents, even if the other side hangs, and soon
/// after its task is cancelled. A tier that fails is a tier that is absent: no function returns a guess.
/// `SharedTierConformance` of HTTPCacheTesting checks a tier. A tier belongs to one cache, which closes it.
public protocol SharedTier: Sendable {
  /// The key of digests of request fields that `Vary` nominates and that must not leave this node in plain text: at
  /// least 32 bytes, equal on all nodes; nil if none is configured. Responses whose selection needs such a digest are
  /// not shared then.
  var secret: [UInt8]? { get }

  /// The largest body that is shared, in bytes.
  var largestBody: Int64 { get }

  // MARK: Responses

  /// The responses that are kept for some keys, and the time of the server, asked in one round trip.
  ///
  /// - Parameter keys: in the order of the result; not empty.
  /// - Throws: `SharedTierError`.
  func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding

  /// Reads parts of a body that is not inline.
  ///
  /// - Parameters:
  ///   - numbers: the numbers of the parts; each part but the last has `SharedBody.partSize` bytes.
  ///   - body: the body.
  ///   - key: the key of its record.
  /// - Returns: the parts, in the order of the numbers; nil if the body is gone.
  /// - Throws: `SharedTierError`.
  func parts(_ numbers: Range<Int>, of body: SharedBody, for key: CacheKey) async throws(SharedTierError)
    -> [[UInt8]]?

  /// Writes a part of a body that is not found yet.
  ///
  /// - Parameters:
  ///   - bytes: the bytes of the part.
  ///   - number: its number.
  ///   - body: the body.
  ///   - key: the key of the record that will be published.
  /// - Throws: `SharedTierError`.
  func write(_ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey)
    async throws(SharedTierError)

  /// Makes a response found, and frees the lock with the token, whether the response is found or not. The parts of its
  /// body were written before. A response that is there and `isMoreRecent` stays.
  ///
  /// - Returns: whether the response is found now; false if a more recent one stays, or a part of its body is missing.
  /// - Throws: `SharedTierError`.
  func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool

  // MARK: Locks

  /// Takes the lock of a key for one fetch from the origin, or tells the ticket of the fetch that has it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - token: names the fetch.
  ///   - ticket: the position in the log that the fetch begins at.
  ///   - duration: how long the lock holds without being renewed.
  ///   - overtaken: the ticket of a fetch that a change has overtaken: a lock with this ticket counts as free. nil for
  ///     none.
  /// - Throws: `SharedTierError`.
  func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock

  /// Renews the lock of a fetch that still waits for the origin.
  ///
  /// - Returns: whether the lock was still held with this token.
  /// - Throws: `SharedTierError`.
  func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool

  /// Ends the lock of a fetch, if it is still held with the token.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - token: names the fetch.
  ///   - refusal: how long other nodes are told not to wait for this key, because its response cannot be shared; nil if
  ///     they may try at once.
  /// - Throws: `SharedTierError`.
  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) async throws(SharedTierError)

  // MARK: Changes

  /// Adds a change to the log, and raises the positions of its scopes (`SharedChange.scopeClasses`), in one step.
  ///
  /// - Parameters:
  ///   - change: the change. Its uid stays the same when it is added again.
  ///   - position: where to add it, if that is above all positions there. nil, or a position that is too low, is the
  ///     next position by the clock of the server.
  /// - Returns: its position.
  /// - Throws: `SharedTierError`. The change may have been added nevertheless.
  func add(_ change: SharedChange, at position: SharedPosition?) async throws(SharedTierError)
    -> SharedPosition

  /// The next changes of the log; waits for one. Also the sign of life of the connection.
  ///
  /// - Parameters:
  ///   - position: the last one that was read.
  ///   - wait: how long to wait for a change; zero does not wait.
  ///   - limit: the maximum number of changes.
  /// - Throws: `SharedTierError`, also once after each change of the connection or of the server behind it: the new
  ///   server may have lost changes, and the caller reads `state()` before it goes on.
  func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges

  /// All that the log still has, and the positions of all scopes: what a node reads before it uses the tier. Connects if
  /// there is no connection.
  ///
  /// A tier without a random word may have lost the positions of scopes, and have responses nevertheless: when it makes
  /// the word, it raises the class of everything (0) to the time of its server, below all changes that follow.
  ///
  /// - Throws: `SharedTierError`.
  func state() async throws(SharedTierError) -> SharedState

  // MARK: Nodes

  /// Tells how far a node has applied the log.
  ///
  /// - Throws: `SharedTierError`.
  func report(_ node: SharedNode) async throws(SharedTierError)

  /// The nodes that told of themselves in the last 10 s.
  ///
  /// - Throws: `SharedTierError`.
  func nodes() async throws(SharedTierError) -> [SharedNode]

  /// Forgets a node that ends, so that purges do not wait for it.
  ///
  /// - Parameter name: its name.
  /// - Throws: `SharedTierError`.
  func leave(nodeName name: String) async throws(SharedTierError)

  // MARK: Housekeeping

  /// Removes all responses of a partition from the tier.
  ///
  /// - Throws: `SharedTierError`.
  func wipe(mode: CacheMode, partition: String) async throws(SharedTierError)

  /// Closes all connections. The tier is not used afterwards.
  func close() async
}

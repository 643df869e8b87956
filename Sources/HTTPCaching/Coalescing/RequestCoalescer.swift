import HTTPCacheSemantics
import HTTPCacheStore

/// Decides which requests go to the origin and which wait for a leader. A pure value: it returns the waiters
/// that its caller has to wake.
struct RequestCoalescer<Waiter: Sendable>: Sendable {
  private struct Flight: Sendable {
    let id: UInt64
    /// Taken no later than the leader's request.
    let ticket: InvalidationTicket
    var shared: FlightTransfer?
    var waiters: [UInt64: Waiter] = [:]
    var wasPassedOn = false
  }

  private var flights: [CacheKey: Flight] = [:]
  /// Requests for a key do not wait for a while after a response that could not be shared.
  private var hitForMiss = ExpiringSet<CacheKey>(lifetime: .seconds(2))
  private var lastFlight: UInt64 = 0

  /// The numbers of flights and of waiters.
  var counts: (flights: Int, waiters: Int) {
    (flights.count, flights.values.reduce(0) { $0 + $1.waiters.count })
  }

  /// The number of requests that wait for the leader of a key.
  func waiters(of key: CacheKey) -> Int { flights[key]?.waiters.count ?? 0 }

  /// Decides the role of a request that needs the origin.
  ///
  /// - Parameters:
  ///   - ticket: taken now, in case the request leads.
  ///   - isOvertaken: whether an invalidation overtook a flight with these groups (nil before its head) and
  ///     this ticket. No request joins such a flight: its answer may be older than the invalidation.
  /// - Returns: the request's role, and the waiters of an overtaken flight, which have to join again.
  mutating func join(
    _ key: CacheKey, ticket: InvalidationTicket, uptime: Duration,
    isOvertaken: (_ groups: [String]?, InvalidationTicket) -> Bool
  ) -> (role: CoalescerRole, released: [Waiter]) {
    var released: [Waiter] = []
    if let flight = flights[key] {
      guard isOvertaken(flight.shared?.groups, flight.ticket) else {
        return (flight.shared.map { .share($0) } ?? .wait(flight: flight.id), [])
      }
      released = Array(flight.waiters.values)
      flights[key] = nil
    }
    if hitForMiss.contains(key, uptime: uptime) { return (.goAlone, released) }
    lastFlight += 1
    flights[key] = Flight(id: lastFlight, ticket: ticket)
    return (.lead(flight: lastFlight), released)
  }

  /// Registers a waiter, or returns the news that it can be told at once; nil if it has to wait.
  mutating func wait(_ key: CacheKey, flight id: UInt64, as waiter: UInt64, _ handle: Waiter)
    -> CoalescerNews?
  {
    guard flights[key]?.id == id else { return .lookAgain }
    if let shared = flights[key]?.shared { return .share(shared) }
    flights[key]?.waiters[waiter] = handle
    return nil
  }

  /// Removes a waiter.
  mutating func leave(_ key: CacheKey, flight id: UInt64, waiter: UInt64) -> Waiter? {
    guard flights[key]?.id == id else { return nil }
    return flights[key]?.waiters.removeValue(forKey: waiter)
  }

  /// The leader's response is being stored, and followers may read along.
  mutating func share(_ key: CacheKey, flight id: UInt64, _ shared: FlightTransfer) -> [Waiter] {
    guard flights[key]?.id == id else { return [] }
    flights[key]?.shared = shared
    defer { flights[key]?.waiters = [:] }
    return flights[key].map { Array($0.waiters.values) } ?? []
  }

  /// Ends a flight. With `isUnshareable`, later requests do not wait for a while.
  mutating func end(
    _ key: CacheKey, flight id: UInt64, isUnshareable: Bool = false, uptime: Duration
  ) -> [Waiter] {
    guard let flight = flights[key], flight.id == id else { return [] }
    flights[key] = nil
    if isUnshareable { hitForMiss.insert(key, uptime: uptime) }
    return Array(flight.waiters.values)
  }

  /// Ends the flights of keys that match: they answer no further request.
  mutating func forget(where matches: (CacheKey) -> Bool) -> [Waiter] {
    var waiters: [Waiter] = []
    for (key, flight) in flights where matches(key) {
      waiters.append(contentsOf: flight.waiters.values)
      flights[key] = nil
    }
    return waiters
  }

  /// The leader failed before its head: one waiter leads in its place, once; after that all fail.
  ///
  /// - Parameter isOwnLimit: whether the leader was cancelled or ran out of its own time. Such a failure does
  ///   not count: the origin has not failed, and other requests may have more time.
  mutating func leaderFailed(
    _ key: CacheKey, flight id: UInt64, isOwnLimit: Bool
  ) -> (successor: Waiter?, others: [Waiter]) {
    guard var flight = flights[key], flight.id == id else { return (nil, []) }
    if isOwnLimit || !flight.wasPassedOn, let next = flight.waiters.keys.min() {
      let successor = flight.waiters.removeValue(forKey: next)
      if !isOwnLimit { flight.wasPassedOn = true }
      flights[key] = flight
      return (successor, [])
    }
    flights[key] = nil
    return (nil, Array(flight.waiters.values))
  }
}

import HTTPCacheSemantics
import HTTPCacheStore

/// A request to the origin, with what is known when its response arrives.
struct Conversation: Sendable {
  var exchange: Exchange
  /// The variants that were stored when the request was sent.
  let variants: [StoredVariant]
  /// The request as it was sent last.
  var forward: Exchange.Forward
  /// Taken before the request was sent last; nil before that.
  var ticket: InvalidationTicket?
  /// Held by a request that leads others; nil for one that goes alone.
  var flight: FlightHold?
  /// The fetch for all nodes of a fleet that the request leads; nil without one.
  var fetch: SharedFetch?
  /// How old the answer was in the tier of the fleet; nil for an answer of the origin.
  var tierAge: SharedAge?

  /// The ticket for a response that is stored under a key. A change of the request's target affects the response, too.
  func ticket(for key: CacheKey) -> InvalidationTicket? {
    guard key != exchange.key, var ticket else { return ticket }
    ticket.requestTarget = exchange.key.target
    return ticket
  }

  /// The response answers no other request, here and on other nodes.
  func refuse(_ refusal: StorageRefusal) {
    flight?.release(isUnshareable: true)
    // A request that leads no others may have got a response that only concerns itself.
    if flight != nil || refusal.isLasting { fetch?.refuse(isLasting: refusal.isLasting) }
  }
}

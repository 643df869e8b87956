import HTTPCacheSemantics
import HTTPCacheStore

/// A request to the origin, with what is known when its response arrives.
struct Conversation: Sendable {
  var exchange: Exchange
  /// The variants that were stored when the request was sent.
  let variants: [StoredVariant]
  /// The request as it was sent last.
  var forward: Exchange.Forward
  /// Held by a request that leads others; nil for one that goes alone.
  var flight: FlightHold?
  /// The fetch for all nodes of a fleet that the request leads; nil without one.
  var fetch: SharedFetch?
  /// How old the answer was in the tier of the fleet; nil for an answer of the origin.
  var shared: SharedAge?

  /// The response answers no other request, here and on other nodes.
  func refuse(_ refusal: StorageRefusal) {
    flight?.release(isUnshareable: true)
    // A request that leads no others may have got a response that only concerns itself.
    if flight != nil || refusal.isLasting { fetch?.refuse(isLasting: refusal.isLasting) }
  }

  /// A copy of the request, with a flight.
  func led(by flight: FlightHold) -> Conversation {
    var conversation = self
    conversation.flight = flight
    return conversation
  }
}

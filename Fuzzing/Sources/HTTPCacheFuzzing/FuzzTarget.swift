/// A target for arbitrary octets. Each has a folder with its name in `Fuzzing/Corpus`.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Header fields of a whole exchange, through every rule.
  case exchange
  /// The encoding of a stored record, from a damaged or hostile disk.
  case record
  /// A URI, and below it a reference that is resolved against it.
  case uri
  /// A date, and below it the time that it is relative to.
  case date
  /// The bytes that a client or an origin sends to `httpcache serve` on one connection.
  case http1
  /// The bytes that a Redis server sends to a tier.
  case resp

  /// Feeds the target.
  ///
  /// - Throws: the property that did not hold.
  public func run(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    // Longer input finds no more than shorter input, and slows the search down.
    guard octets.count <= 65_536 else { return }
    switch self {
    case .exchange: try ExchangeProperties.check(HostileExchange(octets))
    case .record: try RecordProperties.check(octets)
    case .uri: try URIProperties.check(octets)
    case .date: try DateProperties.check(octets)
    case .http1: try HTTP1Properties.check(octets)
    case .resp: try RESPProperties.check(octets)
    }
  }
}

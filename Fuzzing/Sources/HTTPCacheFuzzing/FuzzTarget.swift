/// What is fed with arbitrary octets. The names are those of the folders in `Fuzzing/Corpus`.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Header fields of a whole exchange, through every rule.
  case exchange
  /// The encoding of a stored record, as a damaged or hostile disk may hold it.
  case record
  /// A URI, and below it a reference that is resolved against it.
  case uri
  /// A date, and below it the time that it is relative to.
  case date
  /// What a client or an origin sends to `httpcache serve` on one connection.
  case http1

  /// Feeds the target.
  ///
  /// - Throws: the property that did not hold.
  public func run(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    // Longer input finds nothing that shorter does not, and slows the search down.
    guard octets.count <= 65_536 else { return }
    switch self {
    case .exchange: try ExchangeProperties.check(HostileExchange(octets))
    case .record: try RecordProperties.check(octets)
    case .uri: try URIProperties.check(octets)
    case .date: try DateProperties.check(octets)
    case .http1: try HTTP1Properties.check(octets)
    }
  }
}

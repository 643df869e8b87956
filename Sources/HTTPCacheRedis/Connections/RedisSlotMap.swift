#if Redis
  /// Which server of a cluster has which slots.
  struct RedisSlotMap: Sendable {
    /// The servers that have slots.
    let endpoints: [RedisEndpoint]
    /// For each slot, the place of its server in `endpoints`.
    private let owners: [UInt16]

    private static let none = UInt16.max

    /// Reads the reply to `CLUSTER SLOTS`; nil for any other value, and if no slot has a server.
    ///
    /// - Parameter asked: the server that replied.
    init?(_ reply: RESPValue, askedAt asked: RedisEndpoint) {
      guard let ranges = reply.elements, ranges.count <= RedisSlot.count else { return nil }
      var endpoints: [RedisEndpoint] = []
      var owners = [UInt16](repeating: Self.none, count: RedisSlot.count)
      for range in ranges {
        guard let parts = range.elements, parts.count >= 3, let first = parts[0].number,
          let last = parts[1].number,
          0 <= first, first <= last, last < Int64(RedisSlot.count), let primary = parts[2].elements,
          primary.count >= 2, let port = primary[1].number
        else { return nil }
        // Of another kind for TLS alone, or a server that has no name yet.
        guard let endpoint = RedisEndpoint(host: primary[0].text, port: port, askedAt: asked) else {
          continue
        }
        let place = endpoints.firstIndex(of: endpoint) ?? endpoints.count
        if place == endpoints.count { endpoints.append(endpoint) }
        for slot in Int(first)...Int(last) { owners[slot] = UInt16(place) }
      }
      guard !endpoints.isEmpty else { return nil }
      self.endpoints = endpoints
      self.owners = owners
    }

    /// The server of a slot; nil if none has it.
    subscript(slot: Int) -> RedisEndpoint? { owners[slot] == Self.none ? nil : endpoints[Int(owners[slot])] }
  }
#endif

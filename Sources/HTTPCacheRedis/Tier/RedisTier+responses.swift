#if Redis
  public import HTTPCacheSemantics
  import HTTPCacheStore
  public import HTTPCaching

  extension RedisTier {
    /// The most variants of a key. One more takes the place of the one that was published first.
    static let mostVariants = 8
    /// How long a body is kept that was not published yet, or that is found no longer.
    private static let unpublished: Int64 = 60_000

    /// The responses that the servers keep for some keys. Damaged ones, and those of nodes with other secrets, are left out.
    public func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding {
      let names = keys.map { self.keys.names(of: $0) }
      let requests = names.map { RedisRequest($0.variants, [["TIME"], ["HGETALL", .bytes($0.variants)]]) }
      let replies = try await client.send(requests, on: .questions, by: RedisDeadline(limits.question))
      guard replies.count == keys.count, replies.allSatisfy({ $0.count == 2 }), let first = replies.first
      else {
        throw Self.unexpected("the number of replies")
      }
      let now = try Self.time(first[0])
      var variants: [[SharedVariant]] = []
      for (place, reply) in replies.enumerated() {
        // Each server has a clock of its own: only times of one server are compared.
        let ahead = now - (try Self.time(reply[0]))
        guard let fields = reply[1].elements else { throw Self.unexpected("the variants") }
        variants.append(decoded(fields, key: keys[place], digest: names[place].digest, ahead: ahead))
      }
      return SharedFinding(now: now, variants: variants)
    }

    private func decoded(
      _ fields: [RESPValue], key: CacheKey, digest: [UInt8], ahead: Int64
    ) -> [SharedVariant] {
      stride(from: 0, to: fields.count - 1, by: 2).compactMap { index in
        guard let field = fields[index].bytes, let value = fields[index + 1].bytes,
          let variant = RedisRecord.variant(value, field: field, key: key, digest: digest, seal)
        else { return nil }
        guard ahead != 0 else { return variant }
        return SharedVariant(
          record: variant.record, age: variant.age, published: max(0, variant.published + ahead),
          ticket: variant.ticket, inlineBody: variant.inlineBody, body: variant.body)
      }
    }

    /// Reads parts of a body; nil also if a part was damaged.
    public func parts(
      _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
    ) async throws(SharedTierError) -> [[UInt8]]? {
      guard !numbers.isEmpty else { return [] }
      guard numbers.lowerBound >= 0, numbers.upperBound <= body.partCount else { return nil }
      let names = keys.names(of: key)
      let name = names.body(RedisRecord.text(ofBody: body.id))
      // One reply for each part: bytes arrive, and the deadline moves, while the server sends the next.
      let commands: [RedisCommand] = numbers.map { ["HGET", .bytes(name), .number($0)] }
      let replies = try await send(
        commands, for: name, on: .bodies, by: RedisDeadline(limits.publication, progress: limits.progress))
      var parts: [[UInt8]] = []
      for (number, reply) in zip(numbers, replies) {
        guard let bytes = reply.bytes,
          let part = try? seal.open(bytes, at: place(ofPart: number, of: body, names)),
          part.count == body.size(ofPart: number)
        else { return nil }
        parts.append(part)
      }
      return parts
    }

    /// Writes a part of a body, which goes by itself after a minute without a publication.
    public func write(
      _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
    ) async throws(SharedTierError) {
      let names = keys.names(of: key)
      let name = names.body(RedisRecord.text(ofBody: body.id))
      guard bytes.count == body.size(ofPart: number), !bytes.isEmpty else {
        throw SharedTierError(
          .protocol, "a part \(number) of \(bytes.count) bytes, which the body does not have")
      }
      let sealed: [UInt8]
      do throws(CacheError) {
        sealed = try seal.seal(bytes, at: place(ofPart: number, of: body, names))
      } catch {
        throw SharedTierError(.refused, "the part cannot be encrypted: \(error)")
      }
      let commands: [RedisCommand] = [
        ["HSET", .bytes(name), .number(number), .bytes(sealed)],
        // Also before the last part: an abandoned body goes by itself.
        ["PEXPIRE", .bytes(name), .number(Self.unpublished)],
      ]
      _ = try await send(commands, for: name, on: .bodies, by: RedisDeadline(limits.part))
    }

    private func place(ofPart number: Int, of body: SharedBody, _ names: RedisKeys.Names) -> RedisSeal.Place {
      .part(digest: names.digest, body: body.id, number: number, isLast: number == body.partCount - 1)
    }

    /// Makes a response found, unless its record has more than 64 KiB.
    public func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool {
      let key = publication.variant.record.key
      let lockedKey = publication.lockedKey ?? key
      // A script has keys of one slot alone.
      let isLockBeside = lockedKey == key
      let outcome: Result<Bool, SharedTierError>
      do throws(SharedTierError) {
        outcome = .success(try await publish(publication, freeing: isLockBeside ? publication.token : nil))
      } catch {
        outcome = .failure(error)
      }
      if let token = publication.token, !isLockBeside || outcome != .success(true) {
        // A lock that cannot be freed ends by itself.
        try? await unlock(lockedKey, token: token, refusingFor: nil)
      }
      return try outcome.get()
    }

    private func publish(
      _ publication: SharedPublication, freeing token: String?
    ) async throws(SharedTierError) -> Bool {
      let variant = publication.variant
      let names = keys.names(of: variant.record.key)
      let field = keys.field(of: variant.record)
      guard let record = try? RedisRecord(variant, field: field, digest: names.digest, seal) else {
        return false
      }
      let body = names.body(record.bodyID)
      let deadline = RedisDeadline(limits.publication)
      let reply = try await run(
        RedisScripts.publish, [names.variants, names.lock, body],
        [
          .bytes(field), .text(record.date), .text(record.ticket), .text(record.bodyID),
          .bytes(record.payload), .number(Self.milliseconds(publication.lifetime)), .text(token ?? ""),
          .number(variant.body?.partCount ?? 0), .number(Self.mostVariants),
        ], on: .bodies, by: deadline)
      guard let values = reply.elements, let code = values.first?.number else {
        throw Self.unexpected("the publication")
      }
      // Readers of a body that is found no longer have time to finish.
      let ids = values.dropFirst().compactMap(\.text).prefix(Self.mostVariants)
      let unused: [RedisCommand] = ids.map { ["PEXPIRE", .bytes(names.body($0)), .number(Self.unpublished)] }
      if !unused.isEmpty { _ = try? await send(unused, for: names.variants, on: .bodies, by: deadline) }
      return code == 1
    }

    /// Removes all responses of a partition, server by server. Takes as long as a server needs to go through its keys.
    public func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) {
      try await client.remove(
        matching: keys.pattern(mode: mode, partition: partition), within: limits.change)
    }
  }
#endif

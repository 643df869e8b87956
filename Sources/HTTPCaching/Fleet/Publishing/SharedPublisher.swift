import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Publishes stored responses to the other nodes, in the background.
struct SharedPublisher: Sendable {
  let fleet: Fleet

  /// A response to publish.
  struct Job: Sendable {
    let record: CacheRecord
    let reader: any BodyReader
    let fetch: SharedFetch
    /// Pointers and rules that lead from the key of the request to the record.
    let names: [CacheRecord]
    /// The responses of the tier that a 304 may have confirmed: the tier still has the body of the one that it did.
    let confirmed: [SharedVariant]
  }

  /// The longest time that a tier keeps a response.
  private static let longestLifetime = Duration.seconds(7 * 86_400)
  /// How long a response with a validator is kept beyond its use, for conditional requests.
  private static let validatorLifetime: Int64 = 3_600

  /// Begins a publication. If too many are running, this one is dropped, and its lock ends.
  func publish(_ job: Job) {
    guard fleet.hasPlaceToPublish else { return job.fetch.release() }
    fleet.background.begin { [self] in await run(job) }
  }

  private func run(_ job: Job) async {
    let token = job.fetch.takeLock()
    do throws(SharedTierError) {
      for name in job.names {
        let named = variant(of: name, ticket: job.fetch.ticket, inlineBody: [], body: nil)
        _ = try await publish(
          SharedPublication(variant: named, lifetime: lifetime(of: job.record), token: nil), of: job)
      }
      guard let isPublished = try await publishBody(job, token: token) else {
        // The store has lost the body, or a change has overtaken the response.
        if let token { fleet.unlock(job.fetch.key, token: token, refusingFor: nil) }
        return
      }
      guard isPublished else { return }
      fleet.unshareable.withLock { $0.remove(job.fetch.sort) }
      fleet.observers.tell(.fleet(.published(job.record.key, bytes: job.record.bodyLength ?? 0)))
    } catch {
      if let token { fleet.unlock(job.fetch.key, token: token, refusingFor: nil) }
      fleet.observers.tell(.fleet(.notPublished(job.record.key, error)))
    }
  }

  /// - Returns: whether the response is found now; nil if its body cannot be read, or if a change has overtaken it.
  private func publishBody(_ job: Job, token: String?) async throws(SharedTierError) -> Bool? {
    let record = job.record
    guard let length = job.reader.length ?? record.bodyLength else { return nil }
    let lifetime = lifetime(of: record)
    let publication = { (inlineBody: [UInt8]?, body: SharedBody?) in
      SharedPublication(
        variant: variant(of: record, ticket: job.fetch.ticket, inlineBody: inlineBody, body: body),
        lifetime: lifetime, token: token, lockedKey: job.fetch.key == record.key ? nil : job.fetch.key)
    }
    if length <= Int64(SharedVariant.longestInlineBody) {
      guard let bytes = try? await job.reader.readAll(0..<length).array else { return nil }
      return try await publish(publication(bytes, nil), of: job)
    }
    if let body = known(record, length: length, in: job.confirmed),
      try await publish(publication(nil, body), of: job) == true
    {
      return true
    }
    let body = SharedBody(id: .random(in: .min ... .max), length: length)
    for number in 0..<body.partCount {
      let start = Int64(number) * Int64(SharedBody.partSize)
      let end = start + Int64(body.size(ofPart: number))
      guard let bytes = try? await job.reader.readAll(start..<end).array else { return nil }
      guard !job.fetch.isOvertaken(record) else { return nil }
      try await fleet.ask("write a body") { () async throws(SharedTierError) in
        try await fleet.tier.write(bytes, part: number, of: body, for: record.key)
      }
    }
    return try await publish(publication(nil, body), of: job)
  }

  /// - Returns: whether the response is found now; nil if a change has overtaken it meanwhile. After a wipe, the tier must
  ///   not get again what was wiped.
  private func publish(
    _ publication: SharedPublication, of job: Job
  ) async throws(SharedTierError) -> Bool? {
    guard !job.fetch.isOvertaken(job.record) else { return nil }
    return try await fleet.ask("publish") { () async throws(SharedTierError) in
      try await fleet.tier.publish(publication)
    }
  }

  /// The body of the same representation that the tier had when the fetch began.
  private func known(_ record: CacheRecord, length: Int64, in found: [SharedVariant]) -> SharedBody? {
    guard let validator = record.response.strongValidator else { return nil }
    return found.first { variant in
      let response = variant.record.response
      return variant.record.key == record.key && response.nominated == record.response.nominated
        && variant.body?.length == length
        && response.strongValidator == validator
    }?.body
  }

  private func variant(
    of record: CacheRecord, ticket: SharedPosition, inlineBody: [UInt8]?, body: SharedBody?
  ) -> SharedVariant {
    let age = Age.current(record.response, now: fleet.clock.now)
    let (milliseconds, overflow) = age.multipliedReportingOverflow(by: 1_000)
    return SharedVariant(
      record: record, age: overflow ? .max : milliseconds, published: 0, ticket: ticket,
      inlineBody: inlineBody,
      body: body)
  }

  /// How long the tier keeps a response: as long as a node may use it, or confirm it.
  private func lifetime(of record: CacheRecord) -> Duration {
    let facts = record.response.facts
    let rest = facts.freshnessLifetime.saturatingSubtract(Age.current(record.response, now: fleet.clock.now))
    let window = ReuseWindow.allCases.compactMap { facts[$0] }.max() ?? 0
    var seconds = max(0, rest).saturatingAdd(window)
    if Validation.hasValidator(record.response) { seconds = seconds.saturatingAdd(Self.validatorLifetime) }
    return max(.seconds(1), min(.seconds(seconds), Self.longestLifetime))
  }
}

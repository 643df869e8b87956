import HTTPTypes

/// Adds to a part of a response in the store below, and tells the tier when it changed.
final class TieredExtension: BodyWriter {
  private let base: any BodyWriter
  private let tier: TieredStore

  init(_ base: any BodyWriter, tier: TieredStore) {
    self.base = base
    self.tier = tier
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) { try await base.append(bytes) }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let stored = try await base.commit(trailers: trailers)
    tier.didCommit(stored, body: nil)
    return stored
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    guard let stored = try await base.keep() else { return nil }
    tier.didCommit(stored, body: nil)
    return stored
  }

  func abandon() { base.abandon() }

  func reader() throws(CacheError) -> any BodyReader { try base.reader() }
}

import HTTPCacheStore
import HTTPTypes

/// Writes a response that this node fetched for all nodes. Once it is committed, it is published from the bytes that
/// were stored.
final class SharedWriter: BodyWriter {
  private let base: any BodyWriter
  private let fetch: SharedFetch
  private let store: SharedStore

  init(_ base: any BodyWriter, fetch: SharedFetch, store: SharedStore) {
    self.base = base
    self.fetch = fetch
    self.store = store
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    // A body without an announced length may become too large, for the store or for the tier.
    do throws(CacheError) { try await base.append(bytes) } catch {
      if error.code == .tooLarge { fetch.refuse() }
      throw error
    }
    if store.fleet.isTooLarge(base.bytesWritten) { fetch.refuse() }
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    // After the commit, the writer may be gone.
    let reader = try? base.reader()
    let record: CacheRecord
    do throws(CacheError) { record = try await base.commit(trailers: trailers) } catch {
      fetch.release()
      throw error
    }
    if let reader, !store.fleet.isTooLarge(base.bytesWritten) {
      store.publish(record, reader, fetch, confirming: [])
    } else {
      fetch.release()
    }
    return record
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    fetch.release()
    return try await base.keep()
  }

  func abandon() {
    fetch.release()
    base.abandon()
  }

  func reader() throws(CacheError) -> any BodyReader { try base.reader() }
}

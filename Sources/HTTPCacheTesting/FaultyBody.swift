import HTTPCacheStore
import HTTPTypes

/// A stored body of a `FaultyStore`.
final class FaultyBody: StoredBody {
  private let base: any StoredBody
  private let store: FaultyStore

  init(_ base: any StoredBody, store: FaultyStore) {
    self.base = base
    self.store = store
  }

  func open() throws(CacheError) -> any BodyReader {
    try store.check(.open)
    return FaultyReader(try base.open(), store: store)
  }
}

/// An open body of a `FaultyStore`.
final class FaultyReader: BodyReader {
  private let base: any BodyReader
  private let store: FaultyStore

  init(_ base: any BodyReader, store: FaultyStore) {
    self.base = base
    self.store = store
  }

  var length: Int64? { base.length }
  var availableRanges: [Range<Int64>] { base.availableRanges }
  var bytesInMemory: BodyBytes? { base.bytesInMemory }
  var fileRegion: FileRegion? { base.fileRegion }
  func isVerified(_ range: Range<Int64>) -> Bool { base.isVerified(range) }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    try store.check(.readBody)
    return try await base.read(range)
  }

  func clone(to path: String) async throws(CacheError) {
    try store.check(.clone)
    try await base.clone(to: path)
  }
}

/// A writer of a `FaultyStore`.
final class FaultyWriter: BodyWriter {
  private let base: any BodyWriter
  private let store: FaultyStore

  init(_ base: any BodyWriter, store: FaultyStore) {
    self.base = base
    self.store = store
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try store.check(.append)
    try await base.append(bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    do { try store.check(.commit) } catch {
      base.abandon()
      throw error
    }
    return try await base.commit(trailers: trailers)
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    do { try store.check(.keep) } catch {
      base.abandon()
      throw error
    }
    return try await base.keep()
  }

  func abandon() { base.abandon() }

  func reader() throws(CacheError) -> any BodyReader {
    try store.check(.reader)
    return FaultyReader(try base.reader(), store: store)
  }
}

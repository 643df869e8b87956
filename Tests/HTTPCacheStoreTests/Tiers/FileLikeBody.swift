import HTTPCacheStore
import HTTPTypes

/// A body whose reader says that it is not in memory.
final class FileLikeBody: StoredBody {
  private let base: any StoredBody

  init(_ base: any StoredBody) { self.base = base }

  func open() throws(CacheError) -> any BodyReader { FileLikeReader(try base.open()) }
}

final class FileLikeReader: BodyReader {
  private let base: any BodyReader

  init(_ base: any BodyReader) { self.base = base }

  var length: Int64? { base.length }
  var availableRanges: [Range<Int64>] { base.availableRanges }
  var bytesInMemory: BodyBytes? { nil }
  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    try await base.read(range)
  }

  func clone(to path: String) async throws(CacheError) { try await base.clone(to: path) }
}

/// A writer that reports its commit.
final class ChangingWriter: BodyWriter {
  private let base: any BodyWriter
  private let onCommit: @Sendable () -> Void
  private let refuse: (@Sendable (CacheRecord) async throws(CacheError) -> Void)?

  /// - Parameter refuse: removes a response that was committed; nil leaves it.
  init(
    _ base: any BodyWriter, refuse: (@Sendable (CacheRecord) async throws(CacheError) -> Void)? = nil,
    onCommit: @escaping @Sendable () -> Void
  ) {
    self.base = base
    self.refuse = refuse
    self.onCommit = onCommit
  }

  var bytesWritten: Int64 { base.bytesWritten }
  func append(_ bytes: BodyBytes) async throws(CacheError) { try await base.append(bytes) }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    defer { onCommit() }
    let stored = try await base.commit(trailers: trailers)
    guard let refuse else { return stored }
    try await refuse(stored)
    return stored.with(sequence: 0)
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    defer { onCommit() }
    return try await base.keep()
  }

  func abandon() { base.abandon() }
  func reader() throws(CacheError) -> any BodyReader { try base.reader() }
}

import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Several ranges of a stored body as `multipart/byteranges` (RFC 9110 §14.6).
final class MultipartRangesSource: BodySource {
  private struct State {
    var next = 0
    var part: StoredBodySource?
    var first: StoredBodySource?
    var isCancelled = false
  }

  private let reader: any BodyReader
  private let parts: MultipartRanges
  private let counts: CacheCounts
  private let onDamage: @Sendable (CacheError, CacheCounts) -> Void
  private let state = Mutex(State())
  let trailers: HTTPFields = [:]

  var length: Int64? { parts.length }

  /// All of the content, if the stored body is in memory.
  var content: BodyBytes? { reader.bytesInMemory.map { parts.content(of: $0) } }

  init(
    reader: any BodyReader, parts: MultipartRanges, counts: CacheCounts,
    onDamage: @escaping @Sendable (CacheError, CacheCounts) -> Void
  ) {
    self.reader = reader
    self.parts = parts
    self.counts = counts
    self.onDamage = onDamage
  }

  /// Reads the beginning of the first range, unless it was checked already.
  ///
  /// - Throws: `CacheError` if the read fails.
  func readBeginning() async throws(CacheError) {
    guard let range = parts.ranges.first else { return }
    let source = StoredBodySource(
      reader: reader, range: range, trailers: [:], counts: counts, onDamage: onDamage)
    try await source.readBeginning()
    state.withLock { $0.first = source }
  }

  func next() async throws -> BodyBytes? {
    while true {
      let (part, isCancelled) = state.withLock { ($0.part, $0.isCancelled) }
      if isCancelled { return nil }
      if let part {
        if let bytes = try await part.next() { return bytes }
        state.withLock { $0.part = nil }
        continue
      }
      let index = state.withLock { state in
        defer { state.next += 1 }
        return state.next
      }
      if index > parts.ranges.count { return nil }
      if index == parts.ranges.count { return parts.tail }
      state.withLock { state in
        let first = index == 0 ? state.first : nil
        state.part =
          first
          ?? StoredBodySource(
            reader: reader, range: parts.ranges[index], trailers: [:], counts: counts, onDamage: onDamage)
        state.first = nil
      }
      return parts.heads[index]
    }
  }

  func cancel() { state.withLock { $0.isCancelled = true } }
}

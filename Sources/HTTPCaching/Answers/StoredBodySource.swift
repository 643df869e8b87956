import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A body, or a range of a body, read from the store.
final class StoredBodySource: BodySource {
  /// Bytes per read: several whole checksum blocks, so that no block is read twice.
  private static let step: Int64 = 1 << 20
  /// Bytes read before the answer is given: at most one checksum block.
  private static let beginning: Int64 = 256 << 10

  private let reader: any BodyReader
  private let end: Int64
  private let position: Mutex<Int64>
  private let first = Mutex<BodyBytes?>(nil)
  private let hasFailed = Atomic<Bool>(false)
  private let fields: HTTPFields
  private let counts: CacheCounts
  private let onDamage: @Sendable (CacheError, CacheCounts) -> Void
  let length: Int64?
  let stored: StoredBodyRange?

  /// - Parameters:
  ///   - counts: what was counted for this answer.
  ///   - onDamage: called once with `counts` if the body cannot be read.
  init(
    reader: any BodyReader, range: Range<Int64>, trailers: HTTPFields,
    counts: CacheCounts, onDamage: @escaping @Sendable (CacheError, CacheCounts) -> Void
  ) {
    self.reader = reader
    end = range.upperBound
    position = Mutex(range.lowerBound)
    fields = trailers
    self.counts = counts
    self.onDamage = onDamage
    length = range.upperBound - range.lowerBound
    stored = StoredBodyRange(reader: reader, range: range)
  }

  var bytesInMemory: BodyBytes? {
    guard let all = reader.bytesInMemory else { return nil }
    let start = position.withLock { $0 }
    return end - start == length ? all[Int(start)..<Int(end)] : nil
  }

  /// Reads the beginning, unless it was checked already: damage there is found while another answer can still
  /// be given.
  ///
  /// - Throws: `CacheError` if the read fails.
  func readBeginning() async throws(CacheError) {
    let start = position.withLock { $0 }
    guard start < end, reader.bytesInMemory == nil else { return }
    let stop = min(end, (start / Self.beginning + 1) * Self.beginning)
    guard !reader.isVerified(start..<stop) else { return }
    let bytes = try await read(start..<stop)
    first.withLock { $0 = bytes }
  }

  func next() async throws -> BodyBytes? {
    let start = position.withLock { $0 }
    guard start < end else { return nil }
    if let all = reader.bytesInMemory {
      position.withLock { $0 = end }
      return all[Int(start)..<Int(end)]
    }
    let step = Self.step
    let known = first.withLock { first in
      defer { first = nil }
      return first
    }
    let bytes: BodyBytes
    if let known {
      bytes = known
    } else {
      bytes = try await read(start..<min(end, (start / step + 1) * step))
    }
    position.withLock { $0 = start + Int64(bytes.count) }
    return bytes
  }

  private func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    let bytes: BodyBytes
    do throws(CacheError) {
      bytes = try await reader.read(range)
      guard !bytes.isEmpty else {
        throw CacheError(.damaged, "the body ended at byte \(range.lowerBound) of \(end)")
      }
    } catch {
      if !hasFailed.exchange(true, ordering: .relaxed) { onDamage(error, counts) }
      throw error
    }
    return bytes
  }

  var trailers: HTTPFields { position.withLock { $0 >= end } ? fields : [:] }

  func cancel() { position.withLock { $0 = end } }
}

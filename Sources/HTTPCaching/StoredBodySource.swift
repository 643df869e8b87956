import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A body, or a range of one, read from the store.
final class StoredBodySource: BodySource {
  /// Bytes read at once: some checksum blocks, so that none is read twice.
  private static let step: Int64 = 1 << 20

  private let reader: any BodyReader
  private let end: Int64
  private let position: Mutex<Int64>
  private let hasFailed = Atomic<Bool>(false)
  private let fields: HTTPFields
  private let onDamage: @Sendable (CacheError) -> Void
  let length: Int64?
  let stored: StoredBodyRange?

  /// - Parameter onDamage: told once if the body cannot be read.
  init(
    reader: any BodyReader, range: Range<Int64>, trailers: HTTPFields,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.reader = reader
    end = range.upperBound
    position = Mutex(range.lowerBound)
    fields = trailers
    self.onDamage = onDamage
    length = range.upperBound - range.lowerBound
    stored = StoredBodyRange(reader: reader, range: range)
  }

  func next() async throws -> BodyBytes? {
    let start = position.withLock { $0 }
    guard start < end else { return nil }
    if let all = reader.bytesInMemory {
      position.withLock { $0 = end }
      return all[Int(start)..<Int(end)]
    }
    let step = Self.step
    let stop = min(end, (start / step + 1) * step)
    let bytes: BodyBytes
    do throws(CacheError) {
      bytes = try await reader.read(start..<stop)
      guard !bytes.isEmpty else {
        throw CacheError(.damaged, "the body ended at byte \(start) of \(end)")
      }
    } catch {
      if !hasFailed.exchange(true, ordering: .relaxed) { onDamage(error) }
      throw error
    }
    position.withLock { $0 = start + Int64(bytes.count) }
    return bytes
  }

  var trailers: HTTPFields { position.withLock { $0 >= end } ? fields : [:] }

  func cancel() { position.withLock { $0 = end } }
}

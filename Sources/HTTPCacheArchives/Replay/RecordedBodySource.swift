import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// Passes the body of a response on, and keeps a copy until it has come whole.
final class RecordedBodySource: BodySource {
  private let source: any BodySource
  private let copy: Mutex<SystemFile?>
  private let length64 = Atomic<Int64>(0)
  private let onEnd: @Sendable (SystemFile, Int64) -> Void

  /// - Parameter onEnd: called with the copy when the body has come whole.
  init(
    _ source: any BodySource, copy: SystemFile, onEnd: @escaping @Sendable (SystemFile, Int64) -> Void
  ) {
    self.source = source
    self.copy = Mutex(copy)
    self.onEnd = onEnd
  }

  var length: Int64? { source.length }

  func next() async throws -> BodyBytes? {
    guard let bytes = try await source.next() else {
      if let file = copy.withLock({ $0.take() }) { onEnd(file, length64.load(ordering: .relaxed)) }
      return nil
    }
    copy.withLock { copy in
      // A copy that cannot be written is not recorded; the caller gets its bytes.
      do throws(CacheError) { try copy?.write(bytes) } catch { copy = nil }
    }
    length64.add(Int64(bytes.count), ordering: .relaxed)
    return bytes
  }

  var trailers: HTTPFields { source.trailers }

  func cancel() {
    copy.withLock { $0 = nil }
    source.cancel()
  }
}

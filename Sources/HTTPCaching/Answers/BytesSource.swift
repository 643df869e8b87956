import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A body in memory.
final class BytesSource: BodySource {
  private let rest: Mutex<BodyBytes?>
  private let fields: HTTPFields
  let length: Int64?

  init(_ bytes: BodyBytes, trailers: HTTPFields) {
    length = Int64(bytes.count)
    fields = trailers
    rest = Mutex(bytes.isEmpty ? nil : bytes)
  }

  var bytesInMemory: BodyBytes? { rest.withLock { $0 } ?? (length == 0 ? BodyBytes() : nil) }

  func next() async throws -> BodyBytes? { rest.withLock { $0.take() } }

  var trailers: HTTPFields { rest.withLock { $0 == nil } ? fields : [:] }

  func cancel() { rest.withLock { $0 = nil } }
}

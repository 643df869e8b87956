import Dispatch
import HTTPCaching
import HTTPTypes
import Synchronization

/// The bytes of an `InputStream`, read on a separate queue because reading may block.
final class InputStreamSource: BodySource, @unchecked Sendable {
  // @unchecked Sendable because the stream is used on `queue` alone.
  private let stream: InputStream
  private let queue = DispatchQueue(label: "swift-http-cache.input-stream")
  private let isCancelled = Mutex(false)

  private static let pieceLength = 64 << 10

  init(_ stream: InputStream) { self.stream = stream }

  deinit {
    // No read is running: a running read holds the source.
    stream.close()
  }

  var length: Int64? { nil }
  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.read() }) }
    }
  }

  func cancel() { isCancelled.withLock { $0 = true } }

  private func read() throws -> BodyBytes? {
    if isCancelled.withLock({ $0 }) { throw CancellationError() }
    if stream.streamStatus == .notOpen { stream.open() }
    var result = 0
    let bytes = BodyBytes(unsafeUninitializedCapacity: Self.pieceLength) { buffer in
      guard let start = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
      result = stream.read(start, maxLength: buffer.count)
      return max(0, result)
    }
    // Foundation on Linux crashes when a stream without an error is asked for its error.
    if result < 0 { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
    return bytes.isEmpty ? nil : bytes
  }
}

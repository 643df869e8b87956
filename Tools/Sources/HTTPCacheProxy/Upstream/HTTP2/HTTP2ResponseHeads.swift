import NIOCore
import NIOHPACK
import Synchronization

/// The heads of a response on one stream, and its trailers, as they arrive.
final class HTTP2ResponseHeads: Sendable {
  /// The fields after the body.
  let trailers = StreamTrailers()
  private let waiting = Mutex<[HPACKHeaders]>([])

  func add(_ headers: HPACKHeaders) { waiting.withLock { $0.append(headers) } }

  /// Waits for the next head; nil if the stream ends before. Each head interrupts the stream.
  ///
  /// - Throws: `ProtocolViolation`, `StreamError`.
  func next(
    on stream: ByteStream, limits: MessageLimits, until deadline: NIODeadline
  ) async throws -> ResponseHead? {
    while true {
      // Read before the list of heads: a head that arrives in between has then interrupted the read.
      let epoch = stream.epoch
      let headers = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let headers { return try ResponseHead(headers, limits: limits) }
      do throws(StreamError) {
        // NIOHTTP2 refuses DATA before a head: there are bytes only after a head that has been added.
        guard let bytes = try await stream.read(until: deadline, epoch: epoch) else { return nil }
        stream.unread(bytes)
      } catch {
        // A head that has arrived ends the wait.
        guard case .cancelled = error, stream.epoch != epoch, !Task.isCancelled else { throw error }
      }
    }
  }
}

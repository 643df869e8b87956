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
  /// A result, because Swift 6.3 crashes when it optimises a function that throws here.
  func next(
    on stream: ByteStream, until deadline: NIODeadline
  ) async -> Result<HPACKHeaders?, StreamError> {
    while true {
      // Read before the list of heads: a head that arrives in between has then interrupted the read.
      let epoch = stream.epoch
      let headers = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let headers { return .success(headers) }
      switch await Self.read(from: stream, until: deadline, epoch: epoch) {
      case .success(nil): return .success(nil)
      // NIOHTTP2 refuses DATA before a head: there are bytes only after a head that has been added.
      case .success(let bytes?): stream.unread(bytes)
      // A head that has arrived ends the wait.
      case .failure(.cancelled) where stream.epoch != epoch && !Task.isCancelled: break
      case .failure(let error): return .failure(error)
      }
    }
  }

  private static func read(
    from stream: ByteStream, until deadline: NIODeadline, epoch: Int
  ) async -> Result<ByteBuffer?, StreamError> {
    do throws(StreamError) {
      return .success(try await stream.read(until: deadline, epoch: epoch))
    } catch {
      return .failure(error)
    }
  }
}

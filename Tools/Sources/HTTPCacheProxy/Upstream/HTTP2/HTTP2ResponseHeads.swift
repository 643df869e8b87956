import NIOCore
import NIOHPACK
import Synchronization

/// The heads of a response on one stream, and its trailers, as they arrive.
final class HTTP2ResponseHeads: Sendable {
  /// The fields after the body.
  let trailers = StreamTrailers()
  /// The heads that have not been taken, and the number of all that have arrived.
  private let heads = Mutex<(waiting: [HPACKHeaders], count: Int)>(([], 0))

  /// Adds a head.
  ///
  /// - Returns: false if there are more than the interim responses that are allowed, and the final one.
  func add(_ headers: HPACKHeaders) -> Bool {
    heads.withLock { heads in
      heads.count += 1
      guard heads.count <= UpstreamExchange.mostInterim + 1 else { return false }
      heads.waiting.append(headers)
      return true
    }
  }

  /// Waits for the next head; nil if the stream ends before. Each head interrupts the stream.
  ///
  /// A result, because Swift 6.3 crashes when it optimises a function that throws here.
  func next(
    on stream: ByteStream, until deadline: NIODeadline
  ) async -> Result<HPACKHeaders?, StreamError> {
    while true {
      // Read before the list of heads: a head that arrives in between has then interrupted the read.
      let epoch = stream.epoch
      let headers = heads.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
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

import HTTPCacheLibC
import HTTPCacheStore
import HTTPCaching
import NIOCore

/// Sends ranges of a stored body from its file to a client.
final class FileSender {
  /// Shorter bodies are copied, which takes less time than the system calls for a file.
  private static let threshold: Int64 = 64 << 10
  /// Numbers of bytes to give to the system at once. Each slice has its own timeout, so that a slow client differs from
  /// a client that does not read.
  private static let (shortestSlice, longestSlice): (Int64, Int64) = (128 << 10, 2 << 20)
  /// A client that takes a slice within this time gets a longer one, which takes fewer system calls.
  private static let shortTime = TimeAmount.milliseconds(20)
  /// Time between two checks of the file while a slice of it is being sent.
  private static let fileCheck = TimeAmount.milliseconds(250)

  private let stream: ByteStream
  private let timeout: TimeAmount
  private let reader: any BodyReader
  private let region: HTTPCacheStore.FileRegion
  private let handle: NIOFileHandle
  /// The bytes of the latest range that the system has taken.
  private(set) var sentBytes: Int64 = 0

  /// - Parameter timeout: maximum time for a client to take a slice.
  /// - Returns: nil if the body has to be copied.
  init?(_ stored: StoredBodyRange, stream: ByteStream, timeout: TimeAmount) {
    guard stored.range.count >= Self.threshold, let region = stored.reader.fileRegion,
      stored.range.upperBound <= region.count
    else { return nil }
    // A duplicated descriptor stays valid when the reader closes.
    let descriptor = fcntl(region.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    reader = stored.reader
    self.region = region
    self.stream = stream
    self.timeout = timeout
  }

  deinit { try? handle.close() }

  /// Sends a range of the body and returns when the system has all of it. Gives the next slice to the system while the
  /// previous slice is being sent.
  ///
  /// - Throws: `StreamError`.
  func send(_ range: Range<Int64>) async throws {
    var start = range.lowerBound
    var slice = Self.shortestSlice
    var earlier: EventLoopFuture<Void>?
    sentBytes = 0
    do {
      while start < range.upperBound {
        let next = min(range.upperBound, start + slice)
        guard reader.isVerified(start..<next) else { throw StreamError.closed }
        let before = earlier
        earlier = begin(start..<next)
        if let before {
          let began = stream.now
          try await finish(before, of: range)
          // The slice before this one ends where this one starts.
          sentBytes = start - range.lowerBound
          slice = stream.now - began < Self.shortTime ? min(2 * slice, Self.longestSlice) : Self.shortestSlice
        }
        start = next
      }
      if let earlier { try await finish(earlier, of: range) }
      sentBytes = Int64(range.count)
      // The file changed meanwhile, and changed bytes may have been sent: the connection must end here.
      guard reader.isVerified(range) else { throw StreamError.closed }
    } catch {
      // Close the file only after the channel has released every slice.
      stream.reset()
      try? await earlier?.get()
      throw error
    }
  }

  /// Begins to send a slice.
  ///
  /// - Returns: a future that is fulfilled when the system has the whole slice.
  private func begin(_ slice: Range<Int64>) -> EventLoopFuture<Void> {
    let (start, end) = (Int(region.offset + slice.lowerBound), Int(region.offset + slice.upperBound))
    return stream.channel.writeAndFlush(
      IOData.fileRegion(NIOCore.FileRegion(fileHandle: handle, readerIndex: start, endIndex: end)))
  }

  /// Waits until the system has a slice. Closes the connection at the timeout, and if `range` is not in the file any more:
  /// bytes that were cut off can never be sent, and the system reports no error for them.
  private func finish(_ sent: EventLoopFuture<Void>, of range: Range<Int64>) async throws(StreamError) {
    let (channel, loop, reader) = (stream.channel, stream.channel.eventLoop, reader)
    let deadline = stream.now + timeout
    let timer = loop.scheduleRepeatedTask(initialDelay: Self.fileCheck, delay: Self.fileCheck) { _ in
      if deadline <= loop.now || !reader.isVerified(range) { channel.close(promise: nil) }
    }
    defer { timer.cancel() }
    do {
      try await withTaskCancellationHandler {
        try await sent.get()
      } onCancel: {
        channel.close(promise: nil)
      }
    } catch {
      throw .failed(error)
    }
  }
}

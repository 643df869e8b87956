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
    let offset = region.offset
    var start = range.lowerBound
    var slice = Self.shortestSlice
    var earlier: EventLoopFuture<Void>?
    sentBytes = 0
    do {
      while start < range.upperBound {
        let next = min(range.upperBound, start + slice)
        guard reader.isVerified(start..<next) else { throw StreamError.closed }
        let sent = stream.startSending(
          NIOCore.FileRegion(
            fileHandle: handle, readerIndex: Int(offset + start), endIndex: Int(offset + next)))
        let before = earlier
        earlier = sent
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

  private func finish(_ sent: EventLoopFuture<Void>, of range: Range<Int64>) async throws(StreamError) {
    let reader = reader
    try await stream.finishSending(sent, until: stream.now + timeout) { reader.isVerified(range) }
  }
}

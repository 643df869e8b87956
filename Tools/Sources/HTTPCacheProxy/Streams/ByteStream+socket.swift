import NIOCore
import NIOSSL

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Operations on the socket below the channel.
extension ByteStream {
  /// Whether the connection is quiet now: the peer has neither sent unread bytes nor closed.
  func isQuiet() async -> Bool {
    let loop = channel.eventLoop
    let isQuiet =
      loop.inEventLoop ? socketIsQuiet() : (try? await loop.submit { self.socketIsQuiet() }.get()) ?? false
    return isQuiet && !hasBytes && !isEnded
  }

  private func socketIsQuiet() -> Bool {
    let isQuiet = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { handle in
      var entry = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) == 0
    }
    return isQuiet ?? false
  }

  /// Resets the connection, so that the peer sees that the response is incomplete.
  func reset() {
    resetsOnClose(true).whenComplete { [channel] _ in
      // A TLS close would tell the peer that the response is complete.
      if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
        tls.close(mode: .all, promise: nil)
      } else {
        channel.close(promise: nil)
      }
    }
  }

  /// Whether closing resets the connection, also when the process is killed.
  @discardableResult
  func resetsOnClose(_ resets: Bool) -> EventLoopFuture<Void> {
    // A linger time of 0 makes closing a reset.
    (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: resets ? 1 : 0, l_linger: 0))
      ?? channel.eventLoop.makeSucceededVoidFuture()
  }
}

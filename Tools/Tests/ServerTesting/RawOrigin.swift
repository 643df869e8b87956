import Foundation
import HTTPCacheLibC

/// An origin whose every byte a test writes by hand.
package final class RawOrigin: Sendable {
  package let port: Int
  private let descriptor: Int32

  package init() throws {
    (descriptor, port) = try RawPeer.boundSocket()
    guard listen(descriptor, 64) == 0 else { throw RawPeer.Failure(description: "listen: \(errno)") }
  }

  deinit { close(descriptor) }

  /// Its URL without a path, such as `http://127.0.0.1:50123`.
  package var base: String { "http://127.0.0.1:\(port)" }

  /// The next connection.
  package func accept() async throws -> RawPeer {
    guard let peer = try await acceptIfAny(within: RawPeer.patience) else {
      throw RawPeer.Failure(description: "nobody connected to the origin")
    }
    return peer
  }

  /// A connection that is there now; nil if there is none.
  package func acceptIfAny(within milliseconds: Int32 = 0) async throws -> RawPeer? {
    let descriptor = descriptor
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, milliseconds) > 0 else { return continuation.resume(returning: nil) }
        let accepted = HTTPCacheLibC.accept(descriptor, nil, nil)
        continuation.resume(returning: accepted < 0 ? nil : RawPeer(descriptor: accepted))
      }
    }
  }

  /// Takes a connection and the head of the request on it.
  package func acceptRequest() async throws -> (peer: RawPeer, head: String) {
    let peer = try await accept()
    return (peer, try await peer.receiveHead())
  }
}

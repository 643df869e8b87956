import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An origin whose every byte a test writes by hand.
final class RawOrigin: Sendable {
  let port: Int
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, RawPeer.streamType, 0)
    guard descriptor >= 0 else { throw RawPeer.Failure(description: "socket: \(errno)") }
    let bound = RawPeer.withAddress(0) { bind(descriptor, $0, $1) }
    guard bound == 0, listen(descriptor, 64) == 0 else {
      throw RawPeer.Failure(description: "listen: \(errno)")
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
    }
    self.descriptor = descriptor
    port = Int(in_port_t(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }

  /// The next connection.
  func accept() async throws -> RawPeer {
    guard let peer = try await acceptIfAny(within: RawPeer.patience) else {
      throw RawPeer.Failure(description: "nobody connected to the origin")
    }
    return peer
  }

  /// A connection that is there now; nil if there is none.
  func acceptIfAny(within milliseconds: Int32 = 0) async throws -> RawPeer? {
    let descriptor = descriptor
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, milliseconds) > 0 else { return continuation.resume(returning: nil) }
        #if canImport(Darwin)
          let accepted = Darwin.accept(descriptor, nil, nil)
        #elseif canImport(Glibc)
          let accepted = Glibc.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
          let accepted = Musl.accept(descriptor, nil, nil)
        #endif
        continuation.resume(returning: accepted < 0 ? nil : RawPeer(descriptor: accepted))
      }
    }
  }

  /// Takes a connection and the head of the request on it.
  func acceptRequest() async throws -> (peer: RawPeer, head: String) {
    let peer = try await accept()
    return (peer, try await peer.receiveHead())
  }
}

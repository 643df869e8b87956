import Foundation
import Synchronization

/// A small HTTP/1.1 origin on real sockets, with one thread for each connection, that gives prepared answers
/// and records every request.
///
/// ```swift
/// let origin = try SocketOrigin { .text("number \($0.number)", [("Cache-Control", "max-age=60")]) }
/// let (data, _) = try await session.data(from: origin.url("/"))
/// ```
final class SocketOrigin: Sendable {
  typealias Handler = @Sendable (OriginRequest) -> OriginAnswer

  private let listener: Int32
  // Has the same port, and does not listen: another socket does not get the port of an origin that was stopped.
  private let holder: Int32
  private let shared: OriginState
  let port: UInt16

  init(_ handler: @escaping Handler = { _ in .status(404) }) throws {
    signal(SIGPIPE, SIG_IGN)
    shared = OriginState(handler)
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue)
    #endif
    let (listener, holder) = (socket(AF_INET, type, 0), socket(AF_INET, type, 0))
    var isShared: Int32 = 1
    for socket in [listener, holder] {
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(listener, address, size) == 0, getsockname(listener, address, &size) == 0 else {
          return false
        }
        // Possible on Linux as long as neither listens. Elsewhere the origin works without.
        _ = bind(holder, address, size)
        return listen(listener, 128) == 0
      }
    }
    (self.listener, self.holder) = (listener, holder)
    port = UInt16(bigEndian: address.sin_port)
    guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    Thread.detachNewThread { [listener, shared] in
      // Closed only here: elsewhere the number might already belong to another socket.
      defer { close(listener) }
      while !shared.isStopped {
        var poll = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, 100) > 0 else { continue }
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { continue }
        guard shared.add(descriptor) else {
          close(descriptor)
          continue
        }
        Thread.detachNewThread { SocketConnection(descriptor, shared).run() }
      }
    }
  }

  deinit {
    stop()
    close(holder)
  }

  /// Closes every connection and answers no more. The port stays bound until the origin is released.
  func stop() {
    shared.stop(listener)
  }

  func url(_ path: String) -> URL {
    URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(fileURLWithPath: path)
  }

  /// Sets the answers from now on.
  func answers(_ handler: @escaping Handler) { shared.answers(handler) }

  var requests: [OriginRequest] { shared.requests }

  /// Waits until this many requests have arrived.
  func arrived(_ count: Int) async { await shared.wait(for: .requests, count) }

  /// Waits until this many answers were written to their end.
  func sent(_ count: Int) async { await shared.wait(for: .sent, count) }

  /// Waits until this many answers were broken off because the client had gone.
  func abandoned(_ count: Int) async { await shared.wait(for: .abandoned, count) }
}

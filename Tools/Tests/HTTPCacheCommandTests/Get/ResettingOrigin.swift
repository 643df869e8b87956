import Foundation
import Synchronization

/// An origin that sends bytes in one burst to its first client, and resets the connection when the client's kernel has
/// acknowledged all of them. Further clients get the rest, from the octet that they ask for.
final class ResettingOrigin: Sendable {
  /// SIOCOUTQ and MSG_NOSIGNAL of Linux.
  private static let (bytesUnacknowledged, noSignal): (UInt, Int32) = (0x5411, 0x4000)

  let base: String
  private let listener: Int32
  private let requests = Mutex<[String]>([])

  /// The lines and fields of the requests so far.
  var heads: [String] { requests.withLock { $0 } }

  /// - Parameters:
  ///   - content: the whole body.
  ///   - count: the number of bytes before the reset.
  ///   - isChunked: whether the first body has no length.
  init(_ content: [UInt8], resetAfter count: Int, isChunked: Bool) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = self.listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    base = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    Thread.detachNewThread { [weak self] in
      var isFirst = true
      while case let client = accept(listener, nil, nil), client >= 0 {
        let head = Self.head(of: client)
        self?.requests.withLock { $0.append(head) }
        if isFirst {
          Self.send(Self.first(content, count, isChunked: isChunked), to: client)
          Self.reset(client)
        } else {
          Self.send(Self.rest(content, head), to: client)
          close(client)
        }
        isFirst = false
      }
    }
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func first(_ content: [UInt8], _ count: Int, isChunked: Bool) -> [UInt8] {
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(content.count)"
    let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: no-store\r\n\(framing)\r\n\r\n"
    let size = isChunked ? "\(String(content.count, radix: 16))\r\n" : ""
    return Array((head + size).utf8) + content.prefix(count)
  }

  private static func rest(_ content: [UInt8], _ head: String) -> [UInt8] {
    let range = head.lowercased().firstRange(of: "range: bytes=").map { head[$0.upperBound...] }
    let start = range.flatMap { Int($0.prefix(while: \.isNumber)) } ?? 0
    let status =
      start > 0 ? "206 Part\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)" : "200 OK"
    let fields = "ETag: \"1\"\r\nCache-Control: no-store\r\nContent-Length: \(content.count - start)"
    return Array("HTTP/1.1 \(status)\r\n\(fields)\r\nConnection: close\r\n\r\n".utf8) + content[start...]
  }

  private static func head(of client: Int32) -> String {
    var head = ""
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while !head.contains("\r\n\r\n") {
      let count = recv(client, &bytes, bytes.count, 0)
      guard count > 0 else { break }
      head += String(decoding: bytes.prefix(count), as: UTF8.self)
    }
    return head
  }

  private static func send(_ bytes: [UInt8], to client: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(client, $0.baseAddress, $0.count, noSignal) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private static func reset(_ client: Int32) {
    var count: Int32 = 1
    while count > 0, ioctl(client, bytesUnacknowledged, &count) == 0 { sched_yield() }
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(client, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(client)
  }
}

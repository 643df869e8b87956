import Foundation
import HTTPCacheLibC

/// A TCP connection that sends exactly the bytes it is told to, and shows exactly those it gets.
package final class RawPeer: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// How long anything may take before a test fails.
  package static let patience: Int32 = 60_000

  private let descriptor: Int32
  private let inbox = Inbox()

  private final class Inbox: @unchecked Sendable {
    // @unchecked Sendable because a test receives from a peer in one place at a time.
    var bytes: [UInt8] = []
    var isEnded = false
    var isReset = false
  }

  init(descriptor: Int32) {
    self.descriptor = descriptor
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { HTTPCacheLibC.close(descriptor) }

  /// Connects to a port of this machine.
  package static func connect(_ port: Int, receiveBuffer: Int32? = nil) throws -> RawPeer {
    let descriptor = socket(AF_INET, streamType, 0)
    guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    let result = withAddress(port) { HTTPCacheLibC.connect(descriptor, $0, $1) }
    guard result == 0 else { throw Failure(description: "connect: \(errno)") }
    return RawPeer(descriptor: descriptor)
  }

  static var streamType: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      SOCK_STREAM
    #endif
  }

  static func withAddress<Result>(
    _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// A socket on a free port of this machine, which no other socket gets while it is open.
  static func boundSocket() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, streamType, 0)
    guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withAddress(0) { bind(descriptor, $0, $1) == 0 }
    let hasAddress = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isBound, hasAddress else {
      let failure = Failure(description: "bind: \(errno)")
      HTTPCacheLibC.close(descriptor)
      throw failure
    }
    return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
  }

  /// Sends text, in which every character is one byte; short, so that the system takes it at once.
  package func send(_ text: String) {
    _ = push(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, Self.patience)
  }

  /// Sends bytes as far as the system takes them within `milliseconds` of waiting.
  ///
  /// - Returns: how many it took.
  @discardableResult
  package func send(_ bytes: [UInt8], milliseconds: Int32 = patience) async -> Int {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.push(bytes, milliseconds)) }
    }
  }

  private func push(_ bytes: [UInt8], _ milliseconds: Int32) -> Int {
    var sent = 0
    while sent < bytes.count {
      var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&poller, 1, milliseconds) > 0 else { break }
      let flags = Int32(MSG_NOSIGNAL.rawMessageFlag) | Int32(MSG_DONTWAIT.rawMessageFlag)
      let count = bytes[sent...].withUnsafeBytes {
        HTTPCacheLibC.send(descriptor, $0.baseAddress, $0.count, flags)
      }
      if count <= 0 { break }
      sent += count
    }
    return sent
  }

  /// Sends as many bytes as the system takes at once.
  package func sendNow(_ bytes: [UInt8]) { _ = push(bytes, 0) }

  /// Makes the end of this object a reset of the connection.
  package func resetWhenClosed() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Waits until the system of the other side has acknowledged all bytes: a reset then discards none of them.
  package func acknowledged() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while self.unacknowledgedCount > 0 { sched_yield() }
        continuation.resume()
      }
    }
  }

  private var unacknowledgedCount: Int32 {
    var count: Int32 = 0
    #if canImport(Darwin)
      var length = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length)
    #else
      // SIOCOUTQ, a macro that is not imported.
      let bytesUnacknowledged: UInt = 0x5411
      if ioctl(descriptor, bytesUnacknowledged, &count) != 0 { return 0 }
    #endif
    return count
  }

  /// Ends the sending side.
  package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends both sides, so that the other one sees the end at once.
  package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Everything up to and with `mark`; what follows stays for the next call.
  package func receive(through mark: String) async throws -> String {
    let mark = mark.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return try await take { bytes in
      let start = bytes.indices.first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
      return start.map { $0 + mark.count }
    }
  }

  /// Exactly `count` bytes.
  package func receive(count: Int) async throws -> String {
    try await take { $0.count >= count ? count : nil }
  }

  /// A head up to its empty line.
  package func receiveHead() async throws -> String { try await receive(through: "\r\n\r\n") }

  /// Everything up to the end of the connection.
  package func receiveAll() async throws -> String {
    try await onThread {
      while try self.fill() {}
      defer { self.inbox.bytes = [] }
      return Self.text(self.inbox.bytes)
    }
  }

  /// Takes everything up to the end of the connection, and tells whether that was a reset.
  package func endsWithReset() async throws -> Bool {
    try await onThread {
      while try self.fill() {}
      return self.inbox.isReset
    }
  }

  /// Counts what comes up to the end or to `limit`, keeping nothing.
  package func count(upTo limit: Int) async throws -> Int {
    try await onThread {
      var count = self.inbox.bytes.count
      self.inbox.bytes = []
      while count < limit, try self.fill() {
        count += self.inbox.bytes.count
        self.inbox.bytes = []
      }
      return count
    }
  }

  private func take(_ find: @escaping @Sendable ([UInt8]) -> Int?) async throws -> String {
    try await onThread {
      while true {
        if let count = find(self.inbox.bytes) {
          defer { self.inbox.bytes.removeFirst(count) }
          return Self.text(self.inbox.bytes[..<count])
        }
        guard try self.fill() else {
          throw Failure(
            description: "the connection ended after \(Self.text(self.inbox.bytes).debugDescription)")
        }
      }
    }
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    var text = ""
    for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
    return text
  }

  private func fill() throws -> Bool {
    if inbox.isEnded { return false }
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, Self.patience) > 0 else {
      throw Failure(description: "nothing came after \(Self.text(inbox.bytes.prefix(2000)).debugDescription)")
    }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count <= 0 {
      inbox.isReset = count < 0 && errno == ECONNRESET
      inbox.isEnded = true
      return false
    }
    inbox.bytes += buffer[..<count]
    return true
  }

  /// Waits on a separate thread, because waiting blocks.
  private func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws
    -> Result
  {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}

extension FixedWidthInteger {
  fileprivate var rawMessageFlag: Self { self }
}

#if canImport(Glibc)
  extension RawRepresentable where RawValue: FixedWidthInteger {
    fileprivate var rawMessageFlag: RawValue { rawValue }
  }
#endif

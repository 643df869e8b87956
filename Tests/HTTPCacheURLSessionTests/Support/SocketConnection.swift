import Foundation
import HTTPCacheLibC

/// One connection of a `SocketOrigin`, on its own thread.
final class SocketConnection {
  private enum Failure: Error { case closed, cut }

  private let descriptor: Int32
  private let state: OriginState
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32, _ state: OriginState) {
    self.descriptor = descriptor
    self.state = state
  }

  func run() {
    defer { state.close(descriptor) }
    while let request = try? readRequest() {
      let answer = state.received(request)
      do {
        try send(answer, to: request)
        state.sent()
      } catch Failure.cut {
        return
      } catch {
        state.abandoned()
        return
      }
      if case .untilClose = answer.framing { return }
      if answer.raw != nil { return }
    }
  }

  // MARK: Reading

  private func readRequest() throws -> OriginRequest? {
    guard let line = try readLine() else { return nil }
    let parts = line.split(separator: " ")
    guard parts.count == 3 else { return nil }
    var fields: [(name: String, value: String)] = []
    while let line = try readLine(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      fields.append(
        (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)))
    }
    var request = OriginRequest(
      number: 0, method: String(parts[0]), target: String(parts[1]), fields: fields)
    if request["Expect"] != nil { try write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    if let length = request["Content-Length"].flatMap({ Int($0) }) {
      request.body = try take(length)
    } else if request["Transfer-Encoding"] != nil {
      while let line = try readLine(), let count = Int(line, radix: 16) {
        request.body += try take(count)
        _ = try readLine()
        if count == 0 { break }
      }
    }
    return request
  }

  private func readLine() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 1)
        return line.hasSuffix("\r") ? String(line.dropLast()) : line
      }
      guard try fill() else { return nil }
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { guard try fill() else { throw Failure.closed } }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  private func fill() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count < 0 { throw Failure.closed }
    buffer += chunk[..<count]
    return count > 0
  }

  // MARK: Writing

  private func send(_ answer: OriginAnswer, to request: OriginRequest) throws {
    if let latch = answer.headLatch { try hold(latch) }
    if let raw = answer.raw { return try write(raw) }
    var head = "HTTP/1.1 \(answer.status) Scripted\r\n"
    for (name, value) in answer.fields { head += "\(name): \(value)\r\n" }
    let hasNoContent = answer.status == 204 || answer.status == 304
    switch answer.framing {
    case .length(let lie): if !hasNoContent { head += "Content-Length: \(lie ?? answer.bodyLength)\r\n" }
    case .chunked: head += "Transfer-Encoding: chunked\r\n"
    case .untilClose: head += "Connection: close\r\n"
    }
    try write(Array((head + "\r\n").utf8))
    if request.method == "HEAD" || hasNoContent { return }
    for step in answer.steps { try perform(step, answer.framing) }
    if case .chunked = answer.framing { try write(Array("0\r\n\r\n".utf8)) }
  }

  private func perform(_ step: OriginAnswer.Step, _ framing: OriginAnswer.Framing) throws {
    switch step {
    case .bytes(let bytes): try writeBody(bytes, framing)
    case .pattern(let range):
      for start in stride(from: range.lowerBound, to: range.upperBound, by: 64 << 10) {
        try writeBody(
          OriginAnswer.pattern(start..<min(start + 64 << 10, range.upperBound)), framing)
      }
    case .hold(let latch): try hold(latch)
    case .cut: throw Failure.cut
    }
  }

  private func writeBody(_ bytes: [UInt8], _ framing: OriginAnswer.Framing) throws {
    guard case .chunked = framing else { return try write(bytes) }
    guard !bytes.isEmpty else { return }
    try write(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
  }

  private func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { rest in
        HTTPCacheLibC.send(descriptor, rest.baseAddress.map { $0 + sent }, rest.count - sent, 0)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw Failure.closed
      }
      sent += count
    }
  }

  private func hold(_ latch: Latch) throws {
    while !latch.isOpen(within: 0.01) {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard Foundation.poll(&poll, 1, 0) > 0 else { continue }
      var byte: UInt8 = 0
      if recv(descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0 { throw Failure.closed }
    }
  }
}

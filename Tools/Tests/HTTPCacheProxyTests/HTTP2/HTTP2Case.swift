import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// Frames of a client, and the reaction that RFC 9113 or RFC 7541 demands. The cases are those of h2spec.
struct HTTP2Case: Sendable, CustomTestStringConvertible {
  typealias Frame = (type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8])

  /// The reaction of the server.
  enum Outcome: Sendable {
    /// Answers the request on a stream.
    case answers(UInt32)
    /// Goes on: it answers a PING.
    case goesOn
    /// Ends the connection, if with GOAWAY then with this error code.
    case connectionError(ErrorCode)
    /// Ends the stream with this error code, or the connection, if with GOAWAY then with this error code.
    case streamError(ErrorCode)
    /// Ends stream 1 with PROTOCOL_ERROR, and goes on: it answers the next request (RFC 9113 §8.1.1).
    case malformed
  }

  /// Error codes of RFC 9113 §7.
  struct ErrorCode: OptionSet, Sendable {
    let rawValue: Int
    static let `protocol` = Self(rawValue: 1 << 1)
    static let flowControl = Self(rawValue: 1 << 3)
    static let streamClosed = Self(rawValue: 1 << 5)
    static let frameSize = Self(rawValue: 1 << 6)
    static let refusedStream = Self(rawValue: 1 << 7)
    static let compression = Self(rawValue: 1 << 9)
    static let calmDown = Self(rawValue: 1 << 11)
  }

  let name: String
  let frames: [Frame]
  let outcome: Outcome
  var testDescription: String { name }

  init(_ name: String, _ frames: [Frame], _ outcome: Outcome) {
    (self.name, self.frames, self.outcome) = (name, frames, outcome)
  }

  /// Sends the frames to a proxy whose origin answers each request, and checks what comes.
  func check() async throws {
    try await withHTTP2 { proxy in
      let answering = Task {
        while !Task.isCancelled {
          guard let peer = try await proxy.origin.acceptIfAny(within: 100) else { continue }
          Task {
            let head = try await peer.receiveHead()
            if head.contains("chunked") { _ = try await peer.receive(count: 5) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
          }
        }
      }
      defer { answering.cancel() }
      let client = try HTTP2Peer(proxy.port)
      // Together, so that no answer comes between them.
      client.send(
        together: frames.map {
          HTTP2Peer.frame($0.type, flags: $0.flags, stream: $0.stream, payload: $0.payload)
        })
      try await check(client)
    }
  }

  private func check(_ client: HTTP2Peer) async throws {
    switch outcome {
    case .answers(let stream):
      let response = try await client.response(stream)
      #expect(response.status == "200" && response.reset == nil)
    case .goesOn:
      client.send(HTTP2Peer.ping, 0, [9, 8, 7, 6, 5, 4, 3, 2])
      while true {
        let frame = try await client.next()
        #expect(frame.type != HTTP2Peer.goAway && frame.type != HTTP2Peer.reset)
        if frame.type == HTTP2Peer.ping, frame.payload == [9, 8, 7, 6, 5, 4, 3, 2] { return }
      }
    case .connectionError(let codes):
      for frame in try await client.rest() where frame.type == HTTP2Peer.goAway {
        #expect(codes.has(frame.payload[7]))
      }
    case .streamError(let codes):
      while let frame = try? await client.next() {
        if frame.type == HTTP2Peer.goAway { return #expect(codes.has(frame.payload[7])) }
        if frame.type == HTTP2Peer.reset { return #expect(codes.has(frame.payload[3])) }
        #expect(frame.type != HTTP2Peer.headers || !frame.payload.starts(with: [0x88]))
      }
      _ = try await client.rest()
    case .malformed:
      #expect(try await client.response(1).reset == 1)
      client.request(3)
      #expect(try await client.response(3).status == "200")
    }
  }
}

extension HTTP2Case.ErrorCode {
  fileprivate func has(_ code: UInt8) -> Bool { rawValue & 1 << Int(code) != 0 }
}

extension HTTP2Case {
  /// HEADERS with END_HEADERS and END_STREAM.
  static func get(
    _ stream: UInt32 = 1, flags: UInt8 = 5, _ fields: [(String, String)] = [], method: String = "GET"
  ) -> Frame {
    frame(HTTP2Peer.headers, flags, stream, block(fields, method: method))
  }

  /// A request whose body follows.
  static func post(_ stream: UInt32 = 1, _ fields: [(String, String)] = []) -> Frame {
    get(stream, flags: 4, fields, method: "POST")
  }

  static func block(_ fields: [(String, String)] = [], method: String = "GET") -> [UInt8] {
    HTTP2Peer.block(
      [(":method", method), (":scheme", "http"), (":path", "/"), (":authority", "h")] + fields)
  }

  static func headers(_ fields: [(String, String)], flags: UInt8 = 5) -> Frame {
    frame(HTTP2Peer.headers, flags, 1, HTTP2Peer.block(fields))
  }

  static func data(_ text: String, flags: UInt8 = 0, _ stream: UInt32 = 1) -> Frame {
    frame(HTTP2Peer.data, flags, stream, Array(text.utf8))
  }

  static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8] = []) -> Frame {
    (type, flags, stream, payload)
  }

  /// SETTINGS with one value.
  static func setting(_ identifier: UInt8, _ value: UInt32) -> Frame {
    frame(HTTP2Peer.settings, 0, 0, [0, identifier] + octets(value))
  }

  static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
    frame(HTTP2Peer.windowUpdate, 0, stream, octets(increment))
  }

  static func octets(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
}

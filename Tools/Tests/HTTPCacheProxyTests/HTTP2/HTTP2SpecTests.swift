import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// The cases of h2spec, which needs Go and cannot be had everywhere: its parts for frames and streams.
@Suite("HTTP/2, case by case: frames and streams (RFC 9113 §§3-7)", .timeLimit(.minutes(10)))
struct HTTP2SpecTests {
  private typealias Case = HTTP2Case
  private static let (data, headers, priority, reset) = (UInt8(0), UInt8(1), UInt8(2), UInt8(3))
  private static let (settings, push, ping, goAway) = (UInt8(4), UInt8(5), UInt8(6), UInt8(7))
  private static let (window, continuation, unknown) = (UInt8(8), UInt8(9), UInt8(0x16))

  static let format: [HTTP2Case] = [
    Case("4.1: a frame of an unknown type is ignored", [Case.frame(unknown, 0, 0, [1, 2, 3])], .goesOn),
    Case(
      "4.1: flags that are not defined are ignored",
      [Case.frame(ping, 0x16, 0, [UInt8](repeating: 0, count: 8))], .goesOn),
    Case(
      "4.1: the reserved bit is ignored", [Case.frame(ping, 0, 1 << 31, [UInt8](repeating: 0, count: 8))],
      .goesOn),
    Case(
      "4.2: DATA of 2^14 bytes", [Case.post(), Case.data(String(repeating: "a", count: 16_384), flags: 1)],
      .answers(1)),
    Case(
      "4.2: DATA longer than SETTINGS_MAX_FRAME_SIZE",
      [Case.post(), Case.data(String(repeating: "a", count: 16_385), flags: 1)], .streamError(.frameSize)),
    Case(
      "4.2: HEADERS longer than SETTINGS_MAX_FRAME_SIZE",
      [Case.frame(headers, 5, 1, Case.block() + [UInt8](repeating: 0, count: 16_384))],
      .connectionError(.frameSize)),
    Case(
      "4.3: a block that cannot be decompressed", [Case.frame(headers, 5, 1, [0x01])],
      .connectionError(.compression)),
    Case(
      "4.3: PRIORITY within a block",
      [Case.frame(headers, 1, 1, Case.block()), Case.frame(priority, 0, 1, [0, 0, 0, 0, 9])],
      .connectionError(.protocol)),
    Case(
      "4.3: HEADERS of another stream within a block",
      [Case.frame(headers, 1, 1, Case.block()), Case.get(3)], .connectionError(.protocol)),
    Case(
      "5.5: a frame of an unknown type within a block",
      [Case.frame(headers, 1, 1, Case.block()), Case.frame(unknown, 0, 1, [1])], .connectionError(.protocol)),
  ]

  static let streams: [HTTP2Case] = [
    Case("5.1: DATA on an idle stream", [Case.data("a", flags: 1)], .connectionError(.protocol)),
    Case(
      "5.1: RST_STREAM on an idle stream", [Case.frame(reset, 0, 1, [0, 0, 0, 8])],
      .connectionError(.protocol)),
    Case("5.1: WINDOW_UPDATE on an idle stream", [Case.windowUpdate(1, 100)], .connectionError(.protocol)),
    Case(
      "5.1: CONTINUATION on an idle stream", [Case.frame(continuation, 4, 1, Case.block())],
      .connectionError(.protocol)),
    Case(
      "5.1: DATA after the end of the stream", [Case.get(), Case.data("a", flags: 1)],
      .streamError([.streamClosed, .protocol])),
    Case(
      "5.1: HEADERS after the end of the stream", [Case.get(), Case.get()],
      .streamError([.streamClosed, .protocol])),
    Case(
      "5.1: CONTINUATION after the end of the stream",
      [Case.get(), Case.frame(continuation, 4, 1, Case.block())],
      .connectionError([.streamClosed, .protocol])),
    Case(
      "5.1: DATA after RST_STREAM",
      [Case.post(), Case.frame(reset, 0, 1, [0, 0, 0, 8]), Case.data("a", flags: 1)],
      .streamError([.streamClosed, .protocol])),
    Case(
      "5.1: HEADERS after RST_STREAM", [Case.post(), Case.frame(reset, 0, 1, [0, 0, 0, 8]), Case.get()],
      .streamError([.streamClosed, .protocol])),
    Case(
      "5.1: CONTINUATION after RST_STREAM",
      [Case.post(), Case.frame(reset, 0, 1, [0, 0, 0, 8]), Case.frame(continuation, 4, 1, Case.block())],
      .connectionError([.streamClosed, .protocol])),
    Case("5.1.1: a stream with an even number", [Case.get(2)], .connectionError(.protocol)),
    Case(
      "5.1.1: a stream with a lower number", [Case.get(5), Case.get(3)],
      .connectionError([.protocol, .streamClosed])),
    Case(
      "5.1.2: more streams than allowed", (0...100).map { Case.post(UInt32($0 * 2 + 1)) },
      .streamError([.refusedStream, .protocol])),
    Case(
      "5.3.1: HEADERS that depend on themselves",
      [Case.frame(headers, 0x25, 1, [0, 0, 0, 1, 9] + Case.block())],
      .streamError(.protocol)),
    Case(
      "5.3.1: PRIORITY that depends on itself", [Case.frame(priority, 0, 1, [0, 0, 0, 1, 9])],
      .streamError(.protocol)),
    Case(
      "5.4.1: GOAWAY and the end of the connection",
      [Case.frame(ping, 0, 3, [UInt8](repeating: 0, count: 8))], .connectionError(.protocol)),
  ]

  static let definitions: [HTTP2Case] = [
    Case("6.1: DATA on stream 0", [Case.data("a", 0)], .connectionError(.protocol)),
    Case(
      "6.1: DATA with more padding than payload", [Case.post(), Case.frame(data, 9, 1, [9, 65])],
      .connectionError(.protocol)),
    Case("6.1: DATA with padding", [Case.post(), Case.frame(data, 9, 1, [2, 65, 0, 0])], .answers(1)),
    Case("6.2: HEADERS on stream 0", [Case.get(0)], .connectionError(.protocol)),
    Case(
      "6.2: HEADERS with more padding than payload", [Case.frame(headers, 13, 1, [255] + Case.block())],
      .connectionError(.protocol)),
    Case(
      "6.2: HEADERS with padding and priority",
      [Case.frame(headers, 0x2D, 1, [1, 0, 0, 0, 0, 9] + Case.block() + [0])], .answers(1)),
    Case("6.3: PRIORITY", [Case.frame(priority, 0, 1, [0, 0, 0, 0, 255]), Case.get()], .answers(1)),
    Case(
      "6.3: PRIORITY on stream 0", [Case.frame(priority, 0, 0, [0, 0, 0, 1, 9])], .connectionError(.protocol)),
    Case("6.3: PRIORITY of 4 bytes", [Case.frame(priority, 0, 1, [0, 0, 0, 1])], .streamError(.frameSize)),
    Case(
      "6.4: RST_STREAM on stream 0", [Case.frame(reset, 0, 0, [0, 0, 0, 8])], .connectionError(.protocol)),
    Case(
      "6.4: RST_STREAM of 3 bytes", [Case.post(), Case.frame(reset, 0, 1, [0, 0, 0])],
      .connectionError(.frameSize)),
    Case(
      "6.5: SETTINGS with ACK and a payload", [Case.frame(settings, 1, 0, [0, 3, 0, 0, 0, 9])],
      .connectionError(.frameSize)),
    Case(
      "6.5: SETTINGS on stream 1", [Case.frame(settings, 0, 1, [0, 3, 0, 0, 0, 9])],
      .connectionError(.protocol)),
    Case(
      "6.5: SETTINGS of 5 bytes", [Case.frame(settings, 0, 0, [0, 3, 0, 0, 0])], .connectionError(.frameSize)),
    Case("6.5.2: ENABLE_PUSH other than 0 and 1", [Case.setting(2, 2)], .connectionError(.protocol)),
    Case(
      "6.5.2: INITIAL_WINDOW_SIZE above 2^31-1", [Case.setting(4, 1 << 31)], .connectionError(.flowControl)),
    Case("6.5.2: MAX_FRAME_SIZE below 2^14", [Case.setting(5, 16_383)], .connectionError(.protocol)),
    Case("6.5.2: MAX_FRAME_SIZE above 2^24-1", [Case.setting(5, 1 << 24)], .connectionError(.protocol)),
    Case("6.5.2: an unknown setting", [Case.setting(0xFF, 1)], .goesOn),
    Case("6.7: PING", [Case.frame(ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])], .goesOn),
    Case("6.7: PING with ACK", [Case.frame(ping, 1, 0, [1, 2, 3, 4, 5, 6, 7, 8])], .goesOn),
    Case("6.7: PING of 6 bytes", [Case.frame(ping, 0, 0, [1, 2, 3, 4, 5, 6])], .connectionError(.frameSize)),
    Case(
      "6.8: GOAWAY on stream 1", [Case.frame(goAway, 0, 1, [0, 0, 0, 0, 0, 0, 0, 0])],
      .connectionError(.protocol)),
    Case("6.9: WINDOW_UPDATE by 0 on the connection", [Case.windowUpdate(0, 0)], .connectionError(.protocol)),
    Case(
      "6.9: WINDOW_UPDATE by 0 on a stream", [Case.post(), Case.windowUpdate(1, 0)], .streamError(.protocol)),
    Case(
      "6.9: WINDOW_UPDATE of 3 bytes", [Case.frame(window, 0, 0, [0, 0, 1])], .connectionError(.frameSize)),
    Case(
      "6.9: WINDOW_UPDATE",
      [Case.windowUpdate(0, 1), Case.post(), Case.windowUpdate(1, 1), Case.data("a", flags: 1)], .answers(1)),
    Case(
      "6.9.1: a window of the connection above 2^31-1",
      [Case.windowUpdate(0, 0x7FFF_FFFF), Case.windowUpdate(0, 0x7FFF_FFFF)], .connectionError(.flowControl)),
    Case(
      "6.9.1: a window of a stream above 2^31-1",
      [Case.post(), Case.windowUpdate(1, 0x7FFF_FFFF), Case.windowUpdate(1, 0x7FFF_FFFF)],
      .streamError(.flowControl)),
    Case(
      "6.10: several CONTINUATION frames",
      [
        Case.frame(headers, 1, 1, Case.block()),
        Case.frame(continuation, 0, 1, HTTP2Peer.block([("a", "b")])),
        Case.frame(continuation, 4, 1, HTTP2Peer.block([("c", "d")])),
      ], .answers(1)),
    Case(
      "6.10: another frame after CONTINUATION",
      [
        Case.frame(headers, 1, 1, Case.block()), Case.frame(continuation, 0, 1), Case.data("a", flags: 1),
      ], .connectionError(.protocol)),
    Case(
      "6.10: CONTINUATION on stream 0",
      [Case.frame(headers, 1, 1, Case.block()), Case.frame(continuation, 4, 0)], .connectionError(.protocol)),
    Case(
      "6.10: CONTINUATION after END_HEADERS", [Case.post(), Case.frame(continuation, 4, 1)],
      .connectionError(.protocol)),
    Case(
      "6.10: CONTINUATION after the last CONTINUATION",
      [
        Case.frame(headers, 0, 1, Case.block(method: "POST")), Case.frame(continuation, 4, 1),
        Case.frame(continuation, 4, 1),
      ], .connectionError(.protocol)),
    Case(
      "6.10: CONTINUATION after DATA", [Case.post(), Case.data("a"), Case.frame(continuation, 4, 1)],
      .connectionError(.protocol)),
    Case(
      "7: RST_STREAM with an unknown error code", [Case.post(), Case.frame(reset, 0, 1, [0, 0, 0, 0xFF])],
      .goesOn),
    Case(
      "8.4: PUSH_PROMISE of a client", [Case.post(), Case.frame(push, 4, 1, [0, 0, 0, 2] + Case.block())],
      .connectionError(.protocol)),
  ]

  @Test(arguments: format) func frames(_ one: HTTP2Case) async throws { try await one.check() }
  @Test(arguments: streams) func states(_ one: HTTP2Case) async throws { try await one.check() }
  @Test(arguments: definitions) func kinds(_ one: HTTP2Case) async throws { try await one.check() }

  @Test("3.4: another preface ends the connection")
  func preface() async throws {
    try await withHTTP2 { proxy in
      let client = try proxy.connect(sending: "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
      client.finish()
      #expect(try await !client.receiveAll().contains(" 200 "))
    }
  }

  @Test("6.5.3: SETTINGS are acknowledged, of several values the last counts")
  func acknowledged() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.settings, 0, [0, 4] + Case.octets(100) + [0, 4] + Case.octets(1))
      var acknowledgements = 0
      while acknowledgements < 2 {
        let frame = try await client.next()
        if frame.type == HTTP2Peer.settings, frame.flags & 1 != 0 { acknowledgements += 1 }
      }
      client.request(1)
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
      #expect(try await client.next(HTTP2Peer.data).payload.count == 1)
      // The window may become negative, and stays so until it is opened far enough (§6.9.2).
      client.send(HTTP2Peer.settings, 0, [0, 4] + Case.octets(0))
      client.widen(1, by: 1)
      client.send(HTTP2Peer.ping, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      var frame = try await client.next()
      while ![HTTP2Peer.ping, HTTP2Peer.data].contains(frame.type) { frame = try await client.next() }
      #expect(frame.type == HTTP2Peer.ping)
      client.widen(1, by: 4)
      #expect(try await client.next(HTTP2Peer.data).payload.count == 4)
    }
  }
}

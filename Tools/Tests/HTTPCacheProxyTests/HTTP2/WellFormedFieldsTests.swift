import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Malformed messages by their fields (RFC 9113 §8.1.1)", .timeLimit(.minutes(10)))
struct WellFormedFieldsTests {
  private typealias Field = (String, String)
  private static let usual: [Field] = [
    (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h"),
  ]
  private static let others: [Field] = [
    (":method", "POST"), (":method", "CONNECT"), (":scheme", "https"), (":path", ""), (":path", "*"),
    (":path", "/a b"), (":path", "/\u{7F}"), (":path", "/é"), (":authority", ""), (":authority", "h\tx"),
    (":status", "200"), (":protocol", "websocket"), (":Method", "GET"), (":", "x"), ("", "x"), ("a", ""),
    ("A", "b"), ("a b", "c"), ("a:", "b"), ("a", "b\nc"), ("a", "b\rc"), ("a", "b\u{0}"), ("a", " b "),
    ("a", "é"),
    ("a\u{0}", "b"), ("x-a_b.c!#$%&'*+^`|~", "d"), ("a@b", "c"), ("a{", "b"), ("a\u{7F}", "b"), ("é", "a"),
    ("connection", "close"), ("keep-alive", "5"), ("proxy-connection", "a"), ("transfer-encoding", "chunked"),
    ("upgrade", "h2c"), ("te", "trailers"), ("te", "gzip"), ("te", "Trailers"), ("host", "h"),
    ("cookie", "a=b"), ("content-type", "text/plain"), ("upgrades", "a"), ("connections", "a"),
  ]

  /// Fields of a request with some changes.
  private static func changed(
    _ fields: [Field], _ random: inout some RandomNumberGenerator
  ) -> [Field] {
    var fields = fields
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      let place = Int.random(in: 0...fields.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where place < fields.count: fields.remove(at: place)
      case 1 where place < fields.count:
        fields[place] = others.randomElement(using: &random) ?? fields[place]
      case 2: fields.swapAt(place % max(1, fields.count), 0)
      default: fields.insert(others.randomElement(using: &random) ?? ("a", "b"), at: place)
      }
      if fields.isEmpty { fields = usual }
    }
    return fields
  }

  /// The number of blocks of fields that NIOHTTP2 takes from a client.
  private func taken(_ blocks: [(fields: [Field], flags: UInt8)]) throws -> Int {
    let channel = EmbeddedChannel(handler: NIOHTTP2Handler(mode: .server, contentLengthValidation: .disabled))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    var bytes = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    bytes.writeBytes(HTTP2Peer.frame(HTTP2Peer.settings))
    for block in blocks {
      bytes.writeBytes(
        HTTP2Peer.frame(
          HTTP2Peer.headers, flags: block.flags, stream: 1, payload: HTTP2Peer.block(block.fields)))
    }
    // A malformed block is an error of the channel, and no frame.
    _ = try? channel.writeInbound(bytes)
    var count = 0
    while let frame = try channel.readInbound(as: HTTP2Frame.self) {
      if case .headers = frame.payload { count += 1 }
    }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    return count
  }

  @Test("a request is malformed where NIOHTTP2 says so, for generated fields")
  func requests() throws {
    var random = SystemRandomNumberGenerator()
    var counts = [false: 0, true: 0]
    for _ in 0..<1_500 {
      let fields = Self.changed(Self.usual, &random)
      let isTaken = try taken([(fields, 5)]) == 1
      counts[isTaken, default: 0] += 1
      #expect(HPACKHeaders(fields).isWellFormedRequest == isTaken, "\(fields)")
    }
    #expect(counts[true, default: 0] > 100 && counts[false, default: 0] > 100)
  }

  @Test("trailers are malformed where NIOHTTP2 says so", arguments: others.indices)
  func trailers(_ index: Int) throws {
    let fields = [Self.others[index]]
    let post = Self.usual.map { $0.0 == ":method" ? ($0.0, "POST") : $0 }
    let isTaken = try taken([(post, 4), (fields, 5)]) == 2
    #expect(HPACKHeaders(fields).areWellFormedTrailers == isTaken, "\(fields)")
  }

  @Test("a client that sends many malformed messages is told so before its connection ends (RFC 9113 §10.5)")
  func many() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      // All at once: within the time that the server counts them for, however busy the machine is.
      for number in 0...200 { client.request(UInt32(number * 2 + 1), "/", [("Upper", "a")]) }
      let goAway = try await client.rest().last { $0.type == HTTP2Peer.goAway }
      // ENHANCE_YOUR_CALM.
      #expect(goAway?.payload.suffix(4) == [0, 0, 0, 11])
      try await eventually { proxy.server.connectionCount == 0 }
    }
  }
}

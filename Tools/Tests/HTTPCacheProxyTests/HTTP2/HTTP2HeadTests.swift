import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Long heads over HTTP/2 (RFC 9113 §6.5.2, §10.5.1)", .timeLimit(.minutes(10))) struct HTTP2HeadTests {
  /// A long field, whole, or a cookie in crumbs as clients split it (RFC 9113 §8.2.3).
  enum Form: String, CaseIterable, Sendable {
    case field
    case cookie
    case crumbs
    case shortCrumbs

    func fields(_ size: Int) -> [(String, String)] {
      switch self {
      case .field: [("x-long", String(repeating: "~", count: size))]
      case .cookie: [("cookie", String(repeating: "c", count: size))]
      case .crumbs: crumbs("name=" + String(repeating: "v", count: 33), size)
      case .shortCrumbs: crumbs("a=1", size)
      }
    }

    private func crumbs(_ crumb: String, _ size: Int) -> [(String, String)] {
      (0..<size / (crumb.utf8.count + 2)).map { _ in ("cookie", crumb) }
    }
  }

  @Test(
    "each size up to 64 KiB is answered, whether the SETTINGS are confirmed or not",
    arguments: [16_000, 16_384, 20_000, 40_000, 65_000], Form.allCases)
  func sizes(_ size: Int, _ form: Form) async throws {
    try await withHTTP2 { proxy in
      for confirms in [false, true] {
        let client = try HTTP2Peer(proxy.port)
        if confirms { try await client.confirmSettings() }
        client.longRequest(1, form.fields(size))
        let (peer, head) = try await proxy.origin.acceptRequest()
        #expect(head.utf8.count > size - 100)
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        if !confirms { client.send(HTTP2Peer.settings, flags: 1, 0) }
        #expect(try await client.response(1).text == "ok")
        // The connection goes on, and its table of fields is right.
        try await proxy.expectAnswer(to: client, 3)
      }
    }
  }

  @Test(
    "a longer head gets 431 on its stream, and other streams go on", arguments: [66_000, 70_000, 100_000],
    Form.allCases)
  func tooLong(_ size: Int, _ form: Form) async throws {
    try await withHTTP2 { proxy in
      for confirms in [false, true] {
        let client = try HTTP2Peer(proxy.port)
        if confirms { try await client.confirmSettings() }
        client.request(1, "/before")
        let (peer, _) = try await proxy.origin.acceptRequest()
        client.longRequest(3, form.fields(size))
        #expect(try await client.response(3).status == "431")
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        #expect(try await client.response(1).text == "ok")
        #expect(try await proxy.expectAnswer(to: client, 5, "/after").hasPrefix("GET /after "))
      }
    }
  }

  @Test("a head in many short frames is answered")
  func shortFrames() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.longRequest(1, Form.field.fields(20_000), frameBytes: 1_300)
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      #expect(try await client.response(1).status == "204")
    }
  }

  @Test("trailers that are too long end their stream alone")
  func trailers() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2(method: "POST", ends: false)
      let block = HTTP2Peer.block((0..<5).map { ("x-\($0)", String(repeating: "~", count: 15_000)) })
      client.send(each: HTTP2Peer.head(1, block, ends: true))
      #expect(try await client.response(1).reset != nil)
      #expect(try await !peer.receiveAll().contains("0\r\n"))
      try await proxy.expectAnswer(to: client, 3)
    }
  }

  @Test("the SETTINGS of the server name the limit of 64 KiB")
  func announced() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      var frame = try await client.next()
      while frame.type != HTTP2Peer.settings || frame.flags & 1 == 1 { frame = try await client.next() }
      let settings = stride(from: 0, to: frame.payload.count, by: 6).map { Array(frame.payload[$0..<$0 + 6]) }
      #expect(settings.contains([0, 6, 0, 1, 0, 0]))
    }
  }

  @Test("over TLS, a first request with a long head is answered", arguments: [20_000, 60_000])
  func overTLS(_ size: Int) async throws {
    try await withProxy(configure: { $0.tls = try? TestCertificate.server() }) { inner in
      try await withProxy(
        upstream: .tls(offersHTTP2: true), configure: { $0.mode = .reverse(toTLS: inner.port) }
      ) { outer in
        let client = try outer.connect()
        let long = String(repeating: "~", count: size)
        client.send("GET /a HTTP/1.1\r\nHost: h\r\nX-Long: \(long)\r\nConnection: close\r\n\r\n")
        let (peer, head) = try await inner.origin.acceptRequest()
        #expect(head.contains(long) && head.contains(/Via: 2 httpcache/))
        peer.send("HTTP/1.1 200 OK\r\nX-Long: \(long)\r\nContent-Length: 2\r\n\r\nok")
        let answer = try await client.receiveAll()
        #expect(answer.contains(long) && answer.hasSuffix("ok"))
      }
    }
  }

  @Test("an origin's head that is too long is an error of its request alone")
  func fromOrigin() async throws {
    let count = Counter()
    let origin = try await ScriptedOrigin.frames { stream in
      let field = ("x-a", String(repeating: "~", count: count.increment() == 1 ? 70_000 : 60_000))
      return HTTP2Peer.head(stream, [0x88] + HTTP2Peer.block([field]))
        + [HTTP2Peer.frame(HTTP2Peer.data, flags: 1, stream: stream, payload: Array("ok".utf8))]
    }
    try await withProxy(
      upstream: .tls(offersHTTP2: true), configure: { $0.mode = .reverse(toTLS: origin.port) }
    ) { proxy in
      let client = try proxy.connect(sending: "GET /long HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 502 "))
      let other = try proxy.connect(sending: "GET /short HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(try await other.receiveAll().contains("\r\nok\r\n"))
    }
  }
}

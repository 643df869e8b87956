import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Octets that a response over HTTP/2 has lost", .timeLimit(.minutes(10))) struct LostOctetsTests {
  private func withOrigin(at port: Int, _ body: (RunningProxy) async throws -> Void) async throws {
    try await withProxy(
      upstream: .tls(offersHTTP2: true), configure: { $0.mode = .reverse(toTLS: port) }, body)
  }

  private static let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

  @Test(
    "a request whose response has a value that was no UTF-8 is sent again over HTTP/1.1",
    arguments: ["location", "etag", "set-cookie"], [true, false])
  func sentAgain(name: String, hasBody: Bool) async throws {
    let origin = try await ScriptedOrigin.http2 { request in
      request.head([":status": "301", name: "/caf\u{FFFD}"], ends: !hasBody)
      if hasBody { request.body("moved", ends: true) }
    }
    try await withOrigin(at: origin.port) { proxy in
      let answer = try await proxy.connect(sending: Self.request).receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\none"))
    }
  }

  @Test("a request that changes something is not sent again")
  func sentOnce() async throws {
    let origin = try await ScriptedOrigin.http2 {
      $0.head([":status": "303", "location": "/caf\u{FFFD}"], ends: true)
    }
    try await withOrigin(at: origin.port) { proxy in
      let request = "DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
      let answer = try await proxy.connect(sending: request).receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 303 "))
    }
  }

  @Test("the response stays if there is none over HTTP/1.1")
  func kept() async throws {
    let held = Mutex<StreamRequest?>(nil)
    let origin = try await ScriptedOrigin.http2 { request in held.withLock { $0 = request } }
    try await withOrigin(at: origin.port) { proxy in
      let client = try proxy.connect(sending: Self.request)
      try await eventually { held.withLock { $0 != nil } }
      // No connection for another request is accepted.
      try await origin.close()
      let request = held.withLock { $0 }
      request?.head([":status": "301", "location": "/caf\u{FFFD}"])
      request?.body("moved", ends: true)
      let answer = try await client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 301 ") && answer.contains("moved"))
    }
  }
}

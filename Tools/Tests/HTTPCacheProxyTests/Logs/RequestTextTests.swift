import HTTPTypes
import Testing

@testable import HTTPCacheProxy

@Suite("A request in messages of the log", .timeLimit(.minutes(10))) struct RequestTextTests {
  private func text(
    _ path: String, origin: String? = nil, _ fields: HTTPFields, trusted: [AddressRange] = []
  ) -> String {
    let client = ClientSide(address: IPAddress("10.0.0.1"), isSecure: false, trusted: trusted)
    return client.requestText(
      of: RequestHead(method: .get, path: path, origin: origin, fields: fields, framing: .none))
  }

  @Test("has the host that the client asked for, once")
  func host() throws {
    let fields: HTTPFields = [.hostField: "h:81"]
    #expect(text("/a", fields) == "GET h:81 /a")
    #expect(text("/a", origin: "http://b", fields) == "GET http://b/a")
    #expect(text("/a", [:]) == "GET /a")
    let trusted = [try #require(AddressRange("10.0.0.0/8"))]
    let forwarded: HTTPFields = [.hostField: "h", .xForwardedHost: "www.example.com"]
    #expect(text("/a", forwarded, trusted: trusted) == "GET www.example.com /a")
    #expect(text("/a", forwarded) == "GET h /a")
  }
}

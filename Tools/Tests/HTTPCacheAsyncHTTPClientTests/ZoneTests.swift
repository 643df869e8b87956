import Testing

@testable import HTTPCacheAsyncHTTPClient

@Suite("RFC 6874 zones of IPv6 addresses", .timeLimit(.minutes(10))) struct ZoneTests {
  @Test(
    "Host has no zone (§4)",
    arguments: [
      ("[fe80::1%25eth0]", "[fe80::1]"), ("[fe80::1%25eth0]:81", "[fe80::1]:81"), ("[::1]:81", nil),
      ("example.com", nil), ("[::1", nil),
    ] as [(String, String?)])
  func host(_ authority: String, _ host: String?) {
    #expect(AsyncHTTPClientUpstream.host(withoutZone: authority) == host)
  }
}

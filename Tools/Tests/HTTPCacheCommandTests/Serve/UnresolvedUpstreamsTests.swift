import HTTPCacheProxy
import HTTPCacheTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Host names of upstreams are looked up once each, and for a limited time", .timeLimit(.minutes(10)))
struct UnresolvedUpstreamsTests {
  private func mode(_ origins: [Origin]) -> ProxyServer.Mode {
    .gateway(origins.map { GatewayRoute(to: OriginGroup($0)) })
  }

  @Test("a name of many origins is asked for once, an address never")
  func once() async {
    let asked = LineRecorder()
    let lookups = NameLookups(
      resolves: {
        asked.add($0)
        return $0 != "none.example"
      }, patience: .seconds(600))
    let origins = (1...50).flatMap { port -> [Origin] in
      ["none.example", "known.example", "127.0.0.1", "::1"].map {
        Origin(isSecure: false, host: $0, port: port)
      }
    }
    let messages = await UnresolvedUpstreams.messages(mode(origins), lookups: lookups)
    #expect(asked.lines.sorted() == ["known.example", "none.example"])
    #expect(messages.count == 1)
    #expect(messages.first?.hasPrefix("httpcache: warning: the host name of http://none.example") == true)
  }

  @Test("names that do not resolve in time are told, a hundred of them one by one")
  func slow() async {
    let gate = Gate()
    let lookups = NameLookups(
      resolves: { _ in
        try? await gate.pass()
        return true
      }, patience: .milliseconds(20))
    let origins = (0..<1_000).map { Origin(isSecure: true, host: "h\($0).example") }
    let messages = await UnresolvedUpstreams.messages(mode(origins), lookups: lookups)
    gate.open()
    #expect(messages.count == 101)
    #expect(messages.last == "httpcache: warning: 900 more host names of upstreams do not resolve")
  }
}

import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite struct RFC9211_CacheStatusTests {
  private func value(_ outcome: CacheOutcome) -> String {
    CacheStatus(outcome: outcome, name: "ExampleCache").fieldValue
  }

  @Test("RFC 9211 §3 Outcomes are written as in the examples of the text")
  func outcomes() throws {
    #expect(value(.hit(age: 224, lifetime: 600, allowance: nil)) == "ExampleCache; hit; ttl=376")
    #expect(
      value(.hit(age: 1012, lifetime: 600, allowance: .disconnected))
        == "ExampleCache; hit; ttl=-412; detail=disconnected")
    #expect(
      value(.validated(.stale(age: 2, lifetime: 1), age: 0, lifetime: 60))
        == "ExampleCache; fwd=stale; fwd-status=304; ttl=60")
    #expect(
      value(.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: true))
        == "ExampleCache; fwd=uri-miss; fwd-status=200; stored; collapsed")
    #expect(
      value(
        .forwarded(
          .miss(.variantMismatch([.accept])), status: 200, storage: .doNotStore(.responseNoStore),
          collapsed: false)) == "ExampleCache; fwd=vary-miss; fwd-status=200")
    #expect(
      value(.forwarded(.miss(.policy(.bypass)), status: 500, storage: .store, collapsed: false))
        .hasPrefix("ExampleCache; fwd=bypass"))
    #expect(
      value(.forwarded(.miss(.method(.post)), status: 200, storage: .store, collapsed: false))
        .hasPrefix("ExampleCache; fwd=method"))
    #expect(
      value(
        .forwarded(.validation(.requestNoCache), status: 200, storage: .store, collapsed: false)
      )
      .hasPrefix("ExampleCache; fwd=request"))
  }

  @Test("RFC 9651 §3.3.3 Names and keys that are no tokens are strings")
  func strings() {
    #expect(CacheStatus(name: "CDN Company Here", hit: true).fieldValue == "\"CDN Company Here\"; hit")
    #expect(
      CacheStatus(name: "a", key: "x\"y\\z\u{1}ü").fieldValue == "a; key=\"x\\\"y\\\\z%01%C3%BC\"")
    #expect(CacheStatus(name: "").fieldValue == "\"\"")
    #expect(CacheStatus(name: "a", collapsed: false).fieldValue == "a; collapsed=?0")
  }

  @Test("RFC 9211 §2 Ours comes last, and others stay as they are")
  func appended() throws {
    var fields = try fields(["Cache-Status": "Origin; hit; ttl=1100"])
    CacheStatus.appended(CacheStatus(name: "Ours", fwd: .uriMiss), to: &fields)
    let list = try #require(CacheStatus.list(in: fields))
    #expect(list.map(\.name) == ["Origin", "Ours"])
    #expect(list.first?.ttl == 1100)
    #expect(list.last?.fwd == .uriMiss)
  }

  @Test("RFC 9651 §4.2 What is malformed is no list; unknown parameters are ignored")
  func malformed() throws {
    #expect(try CacheStatus.list(in: fields(["Cache-Status": "a; hit,"])) == nil)
    #expect(try CacheStatus.list(in: fields(["Cache-Status": "(a b)"])) == nil)
    #expect(try CacheStatus.list(in: fields(["Cache-Status": "1"])) == nil)
    #expect(
      try CacheStatus.list(in: fields(["Cache-Status": "a; foo=1; ttl=\"x\"; hit"]))
        == [CacheStatus(name: "a", hit: true)])
    #expect(CacheStatus.list(in: [:]) == [])
  }
}

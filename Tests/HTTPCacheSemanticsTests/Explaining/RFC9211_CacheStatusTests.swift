import HTTPTypes
import Testing

@testable import HTTPCacheSemantics

@Suite(.timeLimit(.minutes(10))) struct RFC9211_CacheStatusTests {
  private func value(_ outcome: CacheOutcome) -> String {
    CacheStatus(outcome: outcome, name: "ExampleCache").fieldValue
  }

  // holds 9211-2.2-1
  @Test("RFC 9211 §3 Outcomes are written as in the examples of the text")
  func outcomes() throws {
    #expect(
      value(.hit(age: .seconds(224), lifetime: .seconds(600), allowance: nil)) == "ExampleCache; hit; ttl=376"
    )
    #expect(
      value(.hit(age: .seconds(1012), lifetime: .seconds(600), allowance: .disconnected))
        == "ExampleCache; hit; ttl=-412; detail=disconnected")
    #expect(
      value(
        .validated(.stale(age: .seconds(2), lifetime: .seconds(1)), age: .seconds(0), lifetime: .seconds(60)))
        == "ExampleCache; fwd=stale; fwd-status=304; ttl=60")
    #expect(
      value(.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: true))
        == "ExampleCache; fwd=uri-miss; fwd-status=200; stored; collapsed")
    #expect(
      value(
        .forwarded(
          .miss(.variantMismatch([.accept])), status: 200, storage: .doNotStore(.responseNoStore),
          collapsed: false)) == "ExampleCache; fwd=vary-miss; fwd-status=200; detail=no-store")
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

  /// Each reason to go forward, with its token.
  static let forwards: [(ForwardReason, String)] = [
    (.miss(.absent), "uri-miss"), (.miss(.variantMismatch([.accept])), "vary-miss"),
    (.miss(.method(.put)), "method"), (.miss(.policy(.bypass)), "bypass"),
    (.miss(.policy(.reload)), "request"), (.miss(.precondition(.ifMatch)), "request"),
    (.miss(.partial), "partial"), (.miss(.storeFailed), "miss"),
    (.miss(.content(.tooLarge(limit: 1))), "bypass"), (.miss(.content(.noDigest)), "bypass"),
    (.miss(.content(.undefinedSemantics(.head))), "bypass"),
    (.validation(.stale(age: .seconds(2), lifetime: .seconds(1))), "stale"),
    (.validation(.invalidated), "stale"), (.validation(.variantMismatch([.accept])), "vary-miss"),
    (.validation(.responseNoCache), "stale"), (.validation(.requestNoCache), "request"),
    (.validation(.pragmaNoCache), "request"), (.validation(.guessWithCredentials), "request"),
    (.validation(.requestMaxAge(.seconds(1), age: .seconds(2))), "request"),
    (.validation(.requestMinFresh(.seconds(1), remaining: .seconds(0))), "request"),
    (.validation(.policy(.revalidate)), "request"),
  ]

  // holds 9211-2.2-1
  @Test("RFC 9211 §2.2 Every reason to go forward has its token")
  func forwardReasons() throws {
    for (reason, token) in Self.forwards {
      #expect(
        value(.forwarded(reason, status: 200, storage: .store, collapsed: false))
          == "ExampleCache; fwd=\(token); fwd-status=200; stored")
    }
  }

  /// Each refusal.
  static let refusals: [StorageRefusal] = [
    .method(.put), .interim, .statusNotUnderstood(299), .statusNotStored(429), .responseNoStore,
    .noStoreDespiteOverride(override: "override 1"), .requestNoStore, .privateInShared, .authorized,
    .setCookie, .credentials, .clientError(400), .notCacheable(status: 201), .neverReusable, .varyAny,
    .varySecret(.cookie), .malformed("Vary"), .redirectToItself, .partialContent,
    .content(.tooLarge(limit: 1)), .content(.noDigest), .content(.undefinedSemantics(.get)), .clearsSite,
    .digestMismatch(algorithm: "sha-256"), .insteadOfStored(status: 404), .override, .policy,
    .tooLarge(limit: 1), .notAdmitted, .superseded, .wiped, .upstream, .hook, .hookFailed, .hookTimedOut,
    .memoryOnly, .incomplete, .storeFailed,
  ]

  @Test("RFC 9211 §2.8 The detail of what is not stored is a token of its own")
  func refusalDetails() throws {
    var details: Set<String> = []
    for refusal in Self.refusals {
      let text = value(
        .forwarded(.miss(.absent), status: 200, storage: .doNotStore(refusal), collapsed: false))
      #expect(!text.contains("\"") && !text.contains("; stored"))
      details.insert(String(try #require(text.split(separator: "; detail=").dropFirst().first)))
    }
    #expect(details.count == Self.refusals.count)
  }

  @Test("RFC 9211 §2.7 A key shows target and content, but no partition")
  func key() throws {
    let get = CacheKey(mode: .private, partition: "anna", target: "https://a/?\"x")
    #expect(CacheStatus.key(get) == "https://a/?\"x")
    #expect(CacheStatus(name: "a", key: CacheStatus.key(get)).fieldValue == "a; key=\"https://a/?\\\"x\"")
    let query = CacheKey(
      mode: .private, methodClass: .query, target: "https://a/", contentDigest: [0, 255])
    #expect(CacheStatus.key(query) == "QUERY https://a/ 00ff")
  }

  @Test("RFC 9651 §3.3.1 Numbers stay within the range of an Integer")
  func numbers() {
    #expect(CacheStatus(name: "a", ttl: .min).fieldValue == "a; ttl=-999999999999999")
    #expect(CacheStatus(name: "a", ttl: .max).fieldValue == "a; ttl=999999999999999")
  }

  // holds 9211-2-3
  @Test("RFC 9651 §3.3.3 Names and keys that are no tokens are strings")
  func strings() {
    #expect(CacheStatus(name: "CDN Company Here", hit: true).fieldValue == "\"CDN Company Here\"; hit")
    #expect(
      CacheStatus(name: "a", key: "x\"y\\z\u{1}ü").fieldValue == "a; key=\"x\\\"y\\\\z%01%C3%BC\"")
    #expect(CacheStatus(name: "").fieldValue == "\"\"")
    #expect(CacheStatus(name: "a", collapsed: false).fieldValue == "a; collapsed=?0")
  }

  // holds 9211-2-2
  @Test("RFC 9211 §2 Ours comes last, and others stay as they are")
  func appended() throws {
    var fields = try fields(["Cache-Status": "Origin; hit; ttl=1100"])
    CacheStatus.appended(CacheStatus(name: "Ours", fwd: .uriMiss), to: &fields)
    #expect(fields.map(\.value) == ["Origin; hit; ttl=1100", "Ours; fwd=uri-miss"])
  }
}

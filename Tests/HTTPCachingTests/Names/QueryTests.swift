import HTTPCacheTesting
import HTTPCaching
import Testing

#if Crypto
  @Suite("QUERY through the engine (RFC 10008)", .timeLimit(.minutes(10)))
  struct QueryTests {
    private let test = TestCache(rules: CacheRules(queryContentLimit: 16))

    private func query(
      _ content: String, _ fields: HTTPFields = [.contentType: "text/plain"], path: String = "/",
      body: MessageBody? = nil, options: RequestOptions = RequestOptions(),
      via upstream: ScriptedUpstream
    ) async throws -> (text: String, outcome: CacheOutcome, status: Int) {
      let response = try await test.cache.respond(
        to: test.request(path, fields, method: .query),
        body: body ?? MessageBody(BodyBytes(Array(content.utf8))), options: options, via: upstream)
      let text = String(decoding: try await response.body.collect().array, as: UTF8.self)
      return (text, response.outcome, response.head.status.code)
    }

    /// Answers each request with what it was asked.
    private func echo(_ fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"])
      -> ScriptedUpstream
    {
      ScriptedUpstream { request in
        ScriptedResponse(
          headers: fields, body: String(decoding: (request.body ?? BodyBytes()).array, as: UTF8.self))
      }
    }

    // holds 10008-Caching-1
    @Test("§2.7 The same content and metadata are answered from the store, others are not")
    func reuse() async throws {
      let upstream = echo()
      #expect(try await query("one", via: upstream).text == "one")
      let again = try await query("one", via: upstream)
      #expect(again.text == "one")
      #expect(again.outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
      #expect(upstream.requestCount == 1)
      #expect(try await query("two", via: upstream).text == "two")
      #expect(upstream.requestCount == 2)
      _ = try await query("one", [.contentType: "text/html"], via: upstream)
      _ = try await query("one", [.contentType: "text/plain", .contentLanguage: "de"], via: upstream)
      _ = try await query("one", path: "/other", via: upstream)
      #expect(upstream.requestCount == 5)
      _ = try await query("one", [.contentType: "TEXT/plain"], via: upstream)
      #expect(upstream.requestCount == 5)
    }

    // holds 10008-Caching-2
    @Test("§2.7 QUERY never answers GET, nor GET QUERY")
    func apart() async throws {
      let upstream = echo()
      _ = try await query("", via: upstream)
      let get = try await test.cache.respond(to: test.request("/"), via: upstream)
      _ = try await get.body.collect()
      #expect(get.outcome == .forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false))
      _ = try await query("", via: upstream)
      #expect(upstream.requestCount == 2)
    }

    @Test("§2.3, §2.4 What Location and Content-Location name is not stored for GET")
    func locations() async throws {
      let upstream = echo([
        "Cache-Control": "max-age=60", "Location": "/equivalent", "Content-Location": "/result",
      ])
      _ = try await query("one", via: upstream)
      for path in ["/equivalent", "/result"] {
        let response = try await test.cache.respond(to: test.request(path), via: upstream)
        _ = try await response.body.collect()
      }
      #expect(upstream.requestCount == 3)
    }

    @Test("§2.7 Content over the limit is passed on whole, with its reason, whether announced or not")
    func tooLarge() async throws {
      let upstream = echo()
      let long = String(repeating: "x", count: 17)
      for _ in 1...2 {
        let announced = try await query(long, via: upstream)
        #expect(announced.text == long)
        #expect(
          announced.outcome
            == .forwarded(
              .miss(.content(.tooLarge(limit: 16))), status: 200,
              storage: .doNotStore(.content(.tooLarge(limit: 16))), collapsed: false))
        let streamed = try await query(
          "", body: MessageBody(TestBody(piece: Array("abcdefgh".utf8), count: 4)), via: upstream)
        #expect(streamed.text == "abcdefghabcdefghabcdefghabcdefgh")
      }
      #expect(upstream.requestCount == 4)
      #expect(test.cache.store.usage.memoryEntries == 0)
    }

    @Test("§2.7 Content of just the limit is part of the key")
    func limit() async throws {
      let upstream = echo()
      for _ in 1...2 {
        let answer = try await query(
          "", body: MessageBody(TestBody(piece: Array("abcdefgh".utf8), count: 2)), via: upstream)
        #expect(answer.text == "abcdefghabcdefgh")
      }
      #expect(upstream.requestCount == 1)
    }

    @Test("§2.6 A stale response is validated with the content sent again")
    func validation() async throws {
      let upstream = ScriptedUpstream([
        ScriptedResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], body: "result"),
        .notModified(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]),
      ])
      _ = try await query("one", via: upstream)
      test.clock.advance(by: 61)
      let answer = try await query("one", via: upstream)
      #expect(answer.text == "result")
      #expect(upstream.requests.last?["If-None-Match"] == "\"1\"")
      #expect(upstream.requests.last?.head.method == .query)
      #expect(upstream.requests.last?.body?.array == Array("one".utf8))
    }

    @Test("RFC 5861 §3 Background validation sends QUERY with its content")
    func background() async throws {
      let upstream = echo(["Cache-Control": "max-age=60, stale-while-revalidate=60"])
      _ = try await query("one", via: upstream)
      test.clock.advance(by: 61)
      _ = try await query("one", via: upstream)
      await upstream.waitForRequests(2)
      #expect(upstream.requests.last?.head.method == .query)
      #expect(upstream.requests.last?.body?.array == Array("one".utf8))
    }

    @Test("§2 QUERY does not invalidate, POST invalidates what QUERY stored")
    func invalidation() async throws {
      let upstream = echo()
      _ = try await query("one", via: upstream)
      _ = try await query("two", via: upstream)
      _ = try await query("one", via: upstream)
      #expect(upstream.requestCount == 2)
      _ = try await test.cache.respond(to: test.request("/", method: .post), via: upstream)
      _ = try await query("one", via: upstream)
      #expect(upstream.requestCount == 4)
    }

    @Test("§2.5 301, 302, 307 and 308 are followed with QUERY and content", arguments: [301, 302, 307, 308])
    func redirects(status: Int) async throws {
      let upstream = ScriptedUpstream([
        ScriptedResponse(status: status, headers: ["Location": "/next"]),
        ScriptedResponse(body: "result"),
      ])
      #expect(try await query("one", via: upstream).text == "result")
      #expect(upstream.requests.last?.head.method == .query)
      #expect(upstream.requests.last?.head.path == "/next")
      #expect(upstream.requests.last?.body?.array == Array("one".utf8))
    }

    @Test("§2.5 303 is followed with GET and without content")
    func seeOther() async throws {
      let upstream = ScriptedUpstream([
        ScriptedResponse(status: 303, headers: ["Location": "/next"]), ScriptedResponse(body: "result"),
      ])
      #expect(try await query("one", via: upstream).text == "result")
      #expect(upstream.requests.last?.head.method == .get)
      #expect(upstream.requests.last?["Content-Type"] == nil)
      #expect(upstream.requests.last?.body == nil)
    }

    @Test("Content that cannot be sent again is not sent after a redirect")
    func redirectOfStream() async throws {
      let upstream = ScriptedUpstream([ScriptedResponse(status: 307, headers: ["Location": "/next"])])
      #expect(try await query(String(repeating: "x", count: 17), via: upstream).status == 307)
    }

    @Test("A body that fails while it is read for the key fails the request")
    func failingBody() async throws {
      let body = MessageBody(
        TestBody(piece: [1], count: 2, failsAt: 1))
      await #expect(throws: UpstreamError.self) { try await query("", body: body, via: echo()) }
    }

    @Test("An explanation finds the response by its content")
    func explanation() async throws {
      let upstream = echo()
      _ = try await query("one", via: upstream)
      let request = test.request("/", [.contentType: "text/plain"], method: .query)
      let found = try test.cache.explain(request, content: BodyBytes(Array("one".utf8)))
      #expect(found.decision == .fresh(age: .seconds(0), lifetime: .seconds(60)))
      #expect(try test.cache.explain(request).decision == .miss(.absent))
    }
  }
#else
  @Suite("QUERY without the trait Crypto (RFC 10008)", .timeLimit(.minutes(10)))
  struct QueryTests {
    @Test("§2.7 Without digests a QUERY is passed on with its content, and not stored")
    func passedOn() async throws {
      let test = TestCache()
      let upstream = ScriptedUpstream { request in
        ScriptedResponse(
          headers: ["Cache-Control": "max-age=60"],
          body: String(decoding: (request.body ?? BodyBytes()).array, as: UTF8.self))
      }
      let response = try await test.cache.respond(
        to: test.request("/", method: .query), body: MessageBody(BodyBytes(Array("one".utf8))),
        via: upstream)
      #expect(try await response.body.collect().array == Array("one".utf8))
      #expect(
        response.outcome
          == .forwarded(
            .miss(.content(.noDigest)), status: 200, storage: .doNotStore(.content(.noDigest)),
            collapsed: false))
    }
  }
#endif

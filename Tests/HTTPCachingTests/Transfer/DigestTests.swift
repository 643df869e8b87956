import HTTPCacheTesting
import HTTPCaching
import Testing

#if Crypto
  @Suite("Digest fields through the engine (RFC 9530)", .timeLimit(.minutes(10)))
  struct DigestTests {
    private let test = TestCache()
    private static let hello256 = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"
    private static let hello512 =
      "sha-512=:m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw==:"
    private static let empty256 = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
    private static let wrong256 = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"

    /// Gets a response twice and tells whether the second came from the store.
    private func isStored(
      _ pairs: KeyValuePairs<String, String>, status: Int = 200, chunks: [String] = ["hel", "lo"],
      announcing isAnnounced: Bool = true
    ) async throws -> Bool {
      let test = test
      var response = ScriptedResponse(
        status: status, headers: pairs, chunks: chunks.map { BodyBytes(Array($0.utf8)) })
      response.head.headerFields[.cacheControl] = "max-age=60"
      if isAnnounced { response.announcedLength = Int64(chunks.joined().utf8.count) }
      let answer = response
      let upstream = ScriptedUpstream { _ in answer }
      for _ in 1...2 {
        let response = try await test.cache.respond(to: test.request("/"), via: upstream)
        let body = try await response.body.collect()
        #expect(String(decoding: body.array, as: UTF8.self) == chunks.joined())
      }
      return upstream.requestCount == 1
    }

    private var mismatches: Int {
      test.events.count {
        if case .notStored(_, .digestMismatch) = $0 { true } else { false }
      }
    }

    @Test(
      "§2, §3 What agrees with its digests is stored",
      arguments: ["Content-Digest", "Repr-Digest"], [hello256, hello512, hello256 + "," + hello512])
    func right(name: String, value: String) async throws {
      #expect(try await isStored([name: value]))
      #expect(mismatches == 0)
    }

    // holds 9530-3-1
    @Test(
      "§1.2 What does not agree is not stored, but passed on",
      arguments: ["Content-Digest", "Repr-Digest"],
      [wrong256, hello512 + "," + wrong256, empty256, "sha-256=:AQ==:"])
    func wrong(name: String, value: String) async throws {
      #expect(try await !isStored([name: value]))
      #expect(mismatches == 2)
    }

    @Test("A body of unknown length is verified at its end")
    func unknownLength() async throws {
      #expect(try await !isStored(["Repr-Digest": Self.wrong256], announcing: false))
      #expect(try await isStored(["Repr-Digest": Self.hello256], announcing: false))
    }

    @Test("§2 Unknown and malformed digests are ignored")
    func ignored() async throws {
      #expect(try await isStored(["Repr-Digest": "md5=:AAAA:", "Content-Digest": "sha-256=AAAA"]))
    }

    @Test("§3 The digest of an empty body is verified too")
    func empty() async throws {
      #expect(try await !isStored(["Repr-Digest": Self.hello256], chunks: []))
      #expect(try await isStored(["Repr-Digest": Self.empty256], chunks: []))
    }

    @Test("§3 A body whose coding was removed cannot be verified")
    func decoded() async throws {
      let upstream = ScriptedUpstream { _ in
        ScriptedResponse(
          headers: ["Repr-Digest": Self.wrong256, "Cache-Control": "max-age=60"], body: "hello"
        ).decoded()
      }
      for _ in 1...2 {
        let response = try await test.cache.respond(
          to: test.request("/"), options: RequestOptions(bodyForms: .any), via: upstream)
        _ = try await response.body.collect()
      }
      #expect(upstream.requestCount == 1)
    }

    @Test("§3 204 says nothing of the representation")
    func noContent() async throws {
      #expect(try await isStored(["Repr-Digest": Self.hello256], status: 204, chunks: []))
    }

    private static let letters = "sha-256=:fRb/AWPBs2sRoCPoHN+dNhi7fEhfP2zg92SFE0YSJng=:"

    @Test("§3 A representation put together from parts is verified as a whole", arguments: StoreKind.allCases)
    func continued(kind: StoreKind) async throws {
      let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\"", .reprDigest: Self.letters]
      let test = try TestCache(kind, origin: RangeOrigin(count: 600_000, fields))
      try await test.breakOff(after: 400_000)
      #expect(try await test.get().text == test.origin.text)
      #expect(try await test.get().text == test.origin.text)
      #expect(test.origin.requests.count == 2)
    }

    @Test("§3 Parts that do not belong together are not stored together", arguments: StoreKind.allCases)
    func mixed(kind: StoreKind) async throws {
      let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\"", .reprDigest: Self.letters]
      let test = try TestCache(kind, origin: RangeOrigin(count: 600_000))
      test.origin.change(to: RangeOrigin.letters(600_000, from: 65), fields)
      try await test.breakOff(after: 400_000)
      test.origin.change(to: RangeOrigin.letters(600_000), fields)
      let response = try await test.respond()
      await #expect(throws: UpstreamError.self) { try await response.body.collect() }
      #expect(try await test.get().text == test.origin.text)
      #expect(try test.lastRequest()[.range] == nil)
    }
  }
#endif

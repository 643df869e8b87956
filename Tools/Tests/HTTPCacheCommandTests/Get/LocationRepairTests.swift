import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Location of redirects in any form", .timeLimit(.minutes(10))) struct LocationRepairTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  @Test(
    "get asks for what curl asks for (RFC 9110 §10.2.2)",
    arguments: [
      ("/caf\u{c3}\u{a9}", "/caf%C3%A9"), ("/caf\u{e9}", "/caf%E9"), ("/?q=caf\u{e9}", "/?q=caf%E9"),
      ("/\u{83}e\u{83}X", "/%83e%83X"), ("/a b", "/a%20b"), ("/?q=a b", "/?q=a%20b"),
      ("/a\"<>|^[]", "/a%22%3C%3E%7C%5E%5B%5D"), ("/100%", "/100%25"), ("/100%2", "/100%252"),
      ("b c", "/b%20c"),
      ("/a\r\nLocation: /b", "/a"), ("\r\nLocation: /b", "/b"),
      ("/plain", "/plain"), ("?x=\u{e9}", "/start?x=%E9"),
    ])
  func asks(_ location: String, _ target: String) async throws {
    let requests = try await redirected(to: { _ in location })
    #expect(requests.last?.hasPrefix("GET \(target) ") == true, "\(requests)")
  }

  @Test(
    "a path that is no UTF-8 is asked for as it is, from the command line too",
    arguments: ["/caf%E9", "/%83e%83X", "/%FF/a?q=%E9", "/a%C3"])
  func noText(_ path: String) async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await CommandRun.get(path, from: origin, in: directory).expectSuccess()
    #expect(directory.file("out").bytes == Array("ok".utf8))
    #expect(origin.texts.map { $0.hasPrefix("GET \(path) HTTP/1.1\r\n") } == [true])
  }

  @Test("a path that is no UTF-8 is asked for with the Host of -H")
  func noTextWithHost() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await CommandRun.get("/caf%E9", from: origin, in: directory, options: ["-H", "Host: other.example"])
      .expectSuccess()
    #expect(origin.requests.map { $0.fields["host"] } == ["other.example"])
  }

  @Test("an empty Location is none, as in curl: the redirect is the answer", arguments: ["", " "])
  func empty(_ location: String) async throws {
    #expect(try await redirected(to: { _ in location }).count == 1)
  }

  @Test("absolute references too, with the host of the origin")
  func absolute() async throws {
    for prefix in ["http://", "//"] {
      let requests = try await redirected(to: { prefix + $0 + "/a b" })
      #expect(requests.last?.hasPrefix("GET /a%20b ") == true, "\(requests)")
    }
  }

  /// The requests of a `get` that an origin redirects once.
  private func redirected(to location: @escaping @Sendable (String) -> String) async throws -> [String] {
    let origin = try await ScriptedOrigin { request, number in
      guard number == 0 else { return Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8) }
      let authority =
        request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
      let answer =
        "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: \(location(String(authority)))\r\n\r\n"
      return answer.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
    await CommandRun.success(["get", "--dir", directory.path("cache"), origin.authority + "/start"])
    return origin.texts
  }

  @Test(
    "hosts with letters outside of ASCII are put into Punycode (RFC 3492); what is a reference stays",
    arguments: [
      ("http://b\u{fc}cher.example/x", "http://xn--bcher-kva.example/x"),
      ("//b\u{fc}cher.example/a b", "https://xn--bcher-kva.example/a%20b"), ("http://h/a?b#c", nil),
      ("a/b", nil),
      ("/a", nil), ("?q", nil), ("", nil), ("mailto:a", nil), ("http://[::1]:80/x", nil),
      ("/a b?next=http://h/x", "/a%20b?next=http://h/x"),
      ("a b?next=http://h/x y", "a%20b?next=http://h/x%20y"),
      ("?a b=http://h", "?a%20b=http://h"), ("/\u{301}?u=http://h/", "/%CC%81?u=http://h/"),
      ("ftp://[::1]/a b", "ftp://[::1]/a%20b"),
    ])
  func repaired(_ reference: String, _ expected: String?) {
    #expect(LocationRepair.repaired(reference, scheme: "https") == expected)
  }
}

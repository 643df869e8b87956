import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  private func get(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> CommandRun {
    let directory = try ScratchFolder()
    return await CommandEnvironment.$current.withValue(environment) {
      await CommandRun(["get", "--dir", directory.path("cache"), "-o", directory.path("1")] + arguments)
    }
  }

  @Test("an http URL goes to the proxy in absolute form, with the proxy's password")
  func absoluteForm() async throws {
    let requests = try await ScriptedOrigin.requests { proxy in
      try await get("-x", "me:p%40w@\(proxy.authority)", "http://origin.invalid:81/a?b").expectSuccess()
    }
    #expect(requests.count == 1)
    #expect(requests.first?.hasPrefix("GET http://origin.invalid:81/a?b HTTP/1.1\r\n") == true)
    #expect(requests.first?.contains("Host: origin.invalid:81\r\n") == true)
    #expect(requests.first?.contains("Proxy-Authorization: Basic bWU6cEB3\r\n") == true)
  }

  @Test(
    "get takes through a proxy the forms of responses that it takes without one (RFC 9112 §5.2)",
    arguments: LenientResponseTests.taken.indices)
  func lenient(_ index: Int) async throws {
    let (name, answer) = LenientResponseTests.taken[index]
    let directory = try ScratchFolder()
    let bytes = answer.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let proxy = try await ScriptedOrigin(bytes: bytes)
    let run = await CommandEnvironment.$current.withValue([:]) {
      await CommandRun([
        "get", "--dir", directory.path("cache"), "-o", directory.path("body"), "-x", proxy.authority,
        "http://origin.invalid/",
      ])
    }
    let content = directory.file("body").bytes.map { String(decoding: $0, as: UTF8.self) }
    #expect(run.status == 0 && content == "ok", "\(name): \(run.errors)")
  }

  @Test("a head of 100 KiB in 250 fields is taken with a proxy and without one", arguments: [true, false])
  func longHead(hasProxy: Bool) async throws {
    let field = "X-A: \(String(repeating: "a", count: 400))"
    let lines = ["HTTP/1.1 200 OK"] + Array(repeating: field, count: 250) + ["Content-Length: 2", "", "ok"]
    let answer = ScriptedOrigin.Answer(bytes: lines.joined(separator: "\r\n").utf8, isHeld: true)
    let origin = try await ScriptedOrigin { _ in answer }
    try await get("-x", hasProxy ? origin.authority : "", origin.base + "/").expectSuccess()
    #expect(origin.requests.first?.line == "GET \(hasProxy ? origin.base : "")/ HTTP/1.1")
  }

  @Test("a redirect to a path in any octets leads there through a proxy, too (RFC 9110 §10.2.2)")
  func octetsOfLocation() async throws {
    let proxy = try await ScriptedOrigin { _, number in
      let answer =
        number == 0
        ? "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /caf\u{e9}\r\nContent-Length: 0\r\n\r\n"
        : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      return answer.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
    try await get("-x", proxy.authority, "http://origin.invalid/").expectSuccess()
    #expect(proxy.texts.last?.hasPrefix("GET http://origin.invalid/caf%E9 HTTP/1.1\r\n") == true)
  }

  @Test("an https URL goes through a tunnel; the error of a refused tunnel names the proxy")
  func tunnel() async throws {
    let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    let requests = try await ScriptedOrigin.requests(refusal) { proxy in
      let run = try await get("-x", proxy.authority, "-U", "me:pw", "https://origin.invalid/")
      #expect(run.status == ExitStatus.unreachable.rawValue)
      #expect(
        run.errors.contains("through the proxy \(proxy.authority): the proxy refuses the tunnel (CONNECT)"))
    }
    #expect(requests.first?.hasPrefix("CONNECT origin.invalid:443 HTTP/1.1\r\n") == true)
    #expect(requests.first?.lowercased().contains("proxy-authorization: basic bwu6chc=\r\n") == true)
  }

  @Test(
    "the environment names the proxy of http URLs, but not as HTTP_PROXY",
    arguments: [
      ("http_proxy", true), ("all_proxy", true), ("ALL_PROXY", true), ("HTTP_PROXY", false),
      ("https_proxy", false),
    ])
  func environment(variable: String, isUsed: Bool) async throws {
    let requests = try await ScriptedOrigin.requests { proxy in
      let run = try await get("http://origin.invalid/", environment: [variable: "http://\(proxy.authority)"])
      #expect((run.status == 0) == isUsed)
    }
    #expect(requests.count == (isUsed ? 1 : 0))
  }

  @Test(
    "https_proxy and HTTPS_PROXY name the proxy of https URLs", arguments: ["https_proxy", "HTTPS_PROXY"])
  func secureEnvironment(variable: String) throws {
    let settings = try ProxySettings(
      proxy: nil, user: nil, noProxy: nil, environment: [variable: "http://p:1", "no_proxy": "b.example"])
    #expect(settings.proxy(scheme: "https", host: "a.example", port: 443)?.host == "p")
    #expect(settings.proxy(scheme: "https", host: "b.example", port: 443) == nil)
    #expect(settings.proxy(scheme: "http", host: "a.example", port: 80) == nil)
  }

  @Test("--proxy overrides the environment, and an empty --proxy means none; no_proxy applies to both")
  func precedence() throws {
    let environment = ["http_proxy": "http://e:1", "NO_PROXY": "a.example"]
    func proxy(_ option: String?, _ noProxy: String? = nil, host: String = "b.example") throws -> String? {
      try ProxySettings(proxy: option, user: nil, noProxy: noProxy, environment: environment)
        .proxy(scheme: "http", host: host, port: 80)?.host
    }
    #expect(try proxy(nil) == "e")
    #expect(try proxy("o:2") == "o")
    #expect(try proxy("") == nil)
    #expect(try proxy("o:2", host: "a.example") == nil)
    #expect(try proxy("o:2", "", host: "a.example") == "o")
    #expect(try proxy("o:2", "*") == nil)
  }

  @Test(
    "an empty variable counts as unset, as in curl",
    arguments: [
      (["http_proxy": "", "all_proxy": "http://p:1"], "p"),
      (["all_proxy": "", "ALL_PROXY": "http://p:1"], "p"),
      (["http_proxy": "http://p:1", "no_proxy": "", "NO_PROXY": "a.example"], nil),
      (["http_proxy": "http://p:1", "no_proxy": "b.example", "NO_PROXY": "a.example"], "p"),
      (["http_proxy": ""], nil),
    ] as [([String: String], String?)])
  func empty(environment: [String: String], host: String?) throws {
    let settings = try ProxySettings(proxy: nil, user: nil, noProxy: nil, environment: environment)
    #expect(settings.proxy(scheme: "http", host: "a.example", port: 80)?.host == host)
  }

  @Test("each redirect chooses its own proxy")
  func redirect() async throws {
    let origin = try await ScriptedOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let authority = origin.authority
    let answer =
      "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://\(authority)/\r\nContent-Length: 0\r\n\r\n"
    let requests = try await ScriptedOrigin.requests(answer) { proxy in
      let run = try await get("-x", proxy.authority, "--noproxy", "127.0.0.0/8", "http://origin.invalid/")
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(requests.count == 1)
    #expect(origin.texts.first?.hasPrefix("GET / HTTP/1.1\r\n") == true)
  }

  @Test("a SOCKS proxy is spoken to as one")
  func socks() async throws {
    let origin = try await ScriptedOrigin(bytes: [5, 0xFF])
    let run = try await get(
      "-x", "socks5h://\(origin.base.dropFirst("http://".count))", "http://origin.invalid/",
      "--connect-timeout", "1")
    #expect(run.status != 0)
    #expect(run.errors.contains("through the proxy 127.0.0.1:"))
  }

  @Test(
    "proxies that cannot be used are refused with the option or variable that names them",
    arguments: [
      ("https://p", "the kind https"), ("socks4://p", "the kind socks4"), ("socks5://u:p@h", "SOCKS"),
      ("http://", "requires a proxy"),
    ])
  func refused(proxy: String, message: String) async throws {
    let option = try await get("-x", proxy, "http://origin.invalid/").expect(.usage)
    #expect(option.errors.contains("--proxy") && option.errors.contains(message), "\(option.errors)")
    let variable = try await get("http://origin.invalid/", environment: ["http_proxy": proxy])
    #expect(variable.errors.contains("$http_proxy") && variable.errors.contains(message))
  }

  @Test(
    "no_proxy is read as curl reads it",
    arguments: [
      ("example.com", "example.com", true), ("example.com", "www.example.com", true),
      ("example.com", "notexample.com", false), (".example.com", "example.com", true),
      ("a.example, example.com", "EXAMPLE.com.", true), ("*", "anything", true), ("", "anything", false),
      ("127.0.0.1", "127.0.0.1", true), ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
      ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
      ("::1", "::1", true), ("[::1]", "::1", true), ("fe80::/10", "fe80::1", true),
      ("fe80::/10", "fd00::1", false),
      ("example.com:80", "example.com", true), ("example.com:81", "example.com", false),
      ("10.0.0.0/99", "10.0.0.1", false), ("0.1", "10.0.0.1", false),
    ])
  func exceptions(list: String, host: String, isContained: Bool) {
    #expect(NoProxyList(list).contains(host: host, port: 80) == isContained)
  }
}

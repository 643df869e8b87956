import ArgumentParser
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct URLArgumentTests {
  @Test(
    "a URL without a scheme is http, as curl's",
    arguments: [
      ("example.com", "http://example.com/"), ("example.com:8080/a?b", "http://example.com:8080/a?b"),
      ("//example.com/a", "http://example.com/a"), ("localhost:8080", "http://localhost:8080/"),
      ("example.com/?u=http://x", "http://example.com/?u=http://x"), ("[::1]:80/", "http://[::1]/"),
      ("https://example.com", "https://example.com/"), ("http:/example.com/a", "http://example.com/a"),
      ("HTTPS:/example.com", "https://example.com/"),
    ])
  func schemeless(argument: String, normalized: String) throws {
    #expect(try TargetURL(parsing: argument).normalized == normalized)
  }

  @Test(
    "a prefix without a scheme is one with http and with https",
    arguments: [
      ("Example.com/a", ["http://example.com/a", "https://example.com/a"]),
      ("example", ["http://example", "https://example"]), ("HTTP://Example.com/", ["http://example.com/"]),
      ("https://exam", ["https://exam"]), ("http", ["http"]), ("ftp://a/", ["ftp://a/"]),
    ])
  func prefixes(prefix: String, prefixes: [String]) {
    #expect(TargetURL.prefixes(prefix) == prefixes)
  }

  @Test("encoded characters stay unchanged, others are encoded")
  func encoding() throws {
    let url = try TargetURL(parsing: "a.example/b c%20d?e[]=%23 ä%zz#f g")
    #expect(url.path == "/b%20c%20d?e%5B%5D=%23%20%C3%A4%25zz")
  }

  @Test(
    "a URL is looked for as get requests it, and as a client of a proxy may have sent it",
    arguments: [
      ("http://h/a?x[0]=1", ["http://h/a?x%5B0%5D=1", "http://h/a?x[0]=1"]),
      ("h/{a}|b#c", ["http://h/%7Ba%7D%7Cb", "http://h/{a}|b"]), ("http://h/a b", ["http://h/a%20b"]),
      ("http://me:p@h/[a]", ["http://h/%5Ba%5D", "http://h/[a]"]), ("http://h/ä", ["http://h/%C3%A4"]),
      ("http://h/%5Ba%5D", ["http://h/%5Ba%5D"]), ("http://h", ["http://h/"]),
      ("http://h?x[0]", ["http://h/?x%5B0%5D", "http://h/?x[0]"]),
    ])
  func targets(argument: String, targets: [String]) throws {
    #expect(try TargetURL(parsing: argument).targets == targets)
  }

  @Test("host and port are taken apart, brackets too")
  func host() throws {
    #expect(try TargetURL(parsing: "[::1]:81").host == "::1")
    #expect(try TargetURL(parsing: "[::1]:81").port == 81)
    #expect(try TargetURL(parsing: "[::1]").port == 80)
    #expect(try TargetURL(parsing: "https://a.example").port == 443)
    #expect(try TargetURL(parsing: "a.example:82").host == "a.example")
  }

  @Test(
    "an address may have a zone (RFC 6874), as in curl with or without the encoding of its percent sign",
    arguments: ["http://[FE80::1%25Eth0]:81/a", "http://[FE80::1%Eth0]:81/a", "[fe80::1%25Eth0]:81/a"])
  func zone(argument: String) throws {
    let url = try TargetURL(parsing: argument)
    #expect(url.normalized == "http://[fe80::1%25Eth0]:81/a")
    #expect(url.host.lowercased() == "fe80::1")
    #expect(url.port == 81)
  }

  @Test("user and password leave the URL")
  func credentials() throws {
    let url = try TargetURL(parsing: "http://me:p%40w@example.com/a@b")
    #expect(url.credentials == Credentials(user: "me", password: "p@w"))
    #expect(url.text == "http://example.com/a@b")
    #expect(url.normalized == "http://example.com/a@b")
    #expect(url.authority == "example.com")
  }

  @Test(
    "what is no URL is refused with the reason",
    arguments: [
      ("", "has no host"), ("/a", "'/a' has no host"), ("ftp://a/", "neither an http nor an https URL"),
      ("http://u:secret@h:99999/", "'http://h:99999/' has no valid host and port"),
      ("//u:secret@h:99999/", "'//h:99999/' has no valid host and port"),
      ("hello world", "is not a URL"), ("X:y", "is not a URL"), (".", "has no host"),
      ("http:/u:secret@h:99999/", "'http://h:99999/' has no valid host and port"),
      ("http://{a,b}/", "is not a URL, such as https://example.com/; {a,b} and [1-3] are not expanded"),
      ("http://[1-3]/", "'1-3' is not an IPv6 address; {a,b} and [1-3] are not expanded"),
      ("http://[fe80::1%25]/", "'%25' is not a zone (RFC 6874)"),
      (#"{"a":1}"#, "--json takes no value, send JSON with -d DATA -H 'Content-Type: application/json'"),
    ])
  func refused(argument: String, message: String) {
    do {
      _ = try TargetURL(parsing: argument)
      Issue.record("\(argument) was read")
    } catch {
      #expect("\(error)".contains(message), "\(error)")
      #expect(!"\(error)".contains("secret"))
    }
  }

  @Test("commands that look into the cache find a URL without a scheme")
  func inspection() async throws {
    let directory = try ScratchFolder()
    let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok"
    _ = try await ScriptedOrigin.requests(answer) { origin in
      let cache = directory.path("cache")
      _ = await CommandRun("get", "--dir", cache, origin.authority, "-o", directory.path("1"))
      #expect(await CommandRun("show", "--dir", cache, origin.authority).status == 0)
      #expect(await CommandRun("ls", "--dir", cache, origin.authority + "/").status == 0)
    }
  }

  @Test(
    "an unknown option with a value is named as unknown, with the nearest one",
    arguments: [
      (["--foo", "bar", "http://a/"], "Unknown option '--foo'"),
      (["-Z", "x", "http://a/"], "Unknown option '-Z'"),
      (["--heder", "X:y", "http://a/"], "Unknown option '--heder'. Did you mean '--header'?"),
    ])
  func unknownOption(arguments: [String], message: String) async {
    let run = await CommandRun.failure(.usage, ["get"] + arguments)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}

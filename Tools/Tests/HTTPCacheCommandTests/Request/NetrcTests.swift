import ArgumentParser
import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct NetrcTests {
  private static let text = """
    # comment machine a.example login no
    machine a.example login one password "p w\\"q"
    MACHINE B.example
      Login two
      account x
      PASSWORD three # the rest of the line
    macdef init
    machine c.example login macro password macro

    machine c.example login four password five
    machine c.example login fourth password fifth
    machine d.example password six
    machine e.example
    machine f.example login seven password machine login no password no
    machine g.example login "a\\tb\\n" password "\\\\r\\q"
    default login anonymous password me@
    """

  private func credentials(host: String, user: String? = nil, _ text: String = text) throws -> Credentials? {
    try NetrcFile(text, path: "file").credentials(host: host, user: user)
  }

  @Test(
    "the entry of a host is found, else the default",
    arguments: [
      ("a.example", "one", "p w\"q"), ("b.EXAMPLE", "two", "three"), ("c.example", "four", "five"),
      ("f.example", "seven", "machine"), ("g.example", "a\tb\n", "\\rq"),
      ("other.example", "anonymous", "me@"), ("e.example", "anonymous", "me@"),
    ])
  func hosts(host: String, user: String, password: String) throws {
    #expect(try credentials(host: host) == Credentials(user: user, password: password))
  }

  @Test("a user has the password of its entry, or of an entry without a user, and no other one")
  func users() throws {
    #expect(try credentials(host: "c.example", user: "fourth")?.password == "fifth")
    #expect(try credentials(host: "d.example", user: "any")?.password == "six")
    #expect(try credentials(host: "a.example", user: "two") == nil)
    #expect(try credentials(host: "a.example", user: "anonymous")?.password == "me@")
  }

  @Test("an entry may lack the user or the password, as in curl; a whole one goes before it")
  func incomplete() throws {
    #expect(try credentials(host: "a", "machine a password b") == Credentials(user: "", password: "b"))
    #expect(try credentials(host: "a", "machine a login b") == Credentials(user: "b", password: ""))
    #expect(
      try credentials(host: "a", "machine a login b\nmachine a login b password c")
        == Credentials(user: "b", password: "c"))
    #expect(try credentials(host: "a", "machine a") == nil)
  }

  @Test("without a default, other hosts have no password")
  func noDefault() throws {
    #expect(try credentials(host: "d", "machine a login b password c") == nil)
    #expect(try credentials(host: "d", "") == nil)
  }

  @Test(
    "a quote that is not closed is an error with its line",
    arguments: ["\nmachine b login \"x y\nmachine c", "\r\nlogin \"x\\"])
  func unclosed(_ text: String) throws {
    let error = #expect(throws: ValidationError.self) { try NetrcFile(text, path: "my/file") }
    #expect(error?.message == "my/file, line 2: a quote is not closed")
  }

  /// The fields `Authorization` of the requests of a `get`, which an origin redirects to another one by its second name.
  private func sent(
    netrc: String, _ arguments: String..., user: String = "", locationUser: String = ""
  ) async throws -> [String?] {
    let directory = try ScratchFolder()
    try directory.write(netrc.utf8, to: "netrc")
    let origin = try await ScriptedOrigin { request in
      guard request.number == 0, let port = request.fields["host"]?.split(separator: ":").last else {
        return ScriptedOrigin.Answer(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8))
      }
      return ScriptedOrigin.Answer(
        head: "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://\(locationUser)localhost:\(port)/")
    }
    let run = await CommandRun.success(
      [
        "get", "--dir", directory.path("cache"), "--netrc-file", directory.path("netrc"), "-o",
        directory.path("out"), "http://\(user)\(origin.authority)/",
      ] + arguments)
    #expect(!run.errors.contains("secret"))
    return origin.requests.map { $0.fields["authorization"] }
  }

  private func basic(_ user: String, _ password: String) -> String {
    Credentials(user: user, password: password).basic
  }

  @Test("each host gets its own entry, also after a redirect")
  func redirect() async throws {
    let both = "machine 127.0.0.1 login a password 1 machine localhost login b password 2"
    #expect(try await sent(netrc: both) == [basic("a", "1"), basic("b", "2")])
    #expect(
      try await sent(netrc: "machine 127.0.0.1 login a password 1") == [basic("a", "1"), nil])
    #expect(try await sent(netrc: both, "-u", "x:y") == [basic("x", "y"), nil])
    #expect(try await sent(netrc: both, "-H", "Authorization: own") == ["own", nil])
  }

  @Test("a queue takes the entry of each host, too: after a redirect and for a mirror")
  func queue() async throws {
    let both = "machine 127.0.0.1 login a password 1 machine localhost login b password 2"
    #expect(try await sent(netrc: both, "--queue", "test") == [basic("a", "1"), basic("b", "2")])
    #expect(
      try await sent(netrc: "machine 127.0.0.1 login a password 1", "--queue", "test")
        == [basic("a", "1"), nil])
    #expect(try await sent(netrc: both, "--queue", "test", "-u", "x:y") == [basic("x", "y"), nil])
    #expect(
      try await sentToMirror(netrc: both, "header=Accept: text/plain") == [basic("a", "1"), basic("b", "2")])
    #expect(
      try await sentToMirror(netrc: "machine 127.0.0.1 login a password 1", "header=Accept: text/plain")
        == [basic("a", "1"), nil])
    #expect(try await sentToMirror(netrc: both, "header=Authorization: own") == ["own", nil])
    #expect(try await sentToMirror(netrc: both, "header=Authorization:") == [nil, nil])
  }

  /// The fields `Authorization` of the requests of a download, whose first URL has no file, and its mirror on another host
  /// has it.
  private func sentToMirror(netrc: String, _ option: String) async throws -> [String?] {
    let directory = try ScratchFolder()
    try directory.write(netrc.utf8, to: "netrc")
    let origin = try await ScriptedOrigin { request in
      ScriptedOrigin.Answer(
        head: "HTTP/1.1 \(request.number == 0 ? "404 Not Found" : "200 OK")\r\nContent-Length: 2",
        body: Array("ok".utf8))
    }
    let port = origin.authority.split(separator: ":").last ?? ""
    let list = "\(origin.base)/a\thttp://localhost:\(port)/b\n  out=\(directory.path("out"))\n  \(option)\n"
    try directory.write(list.utf8, to: "list")
    await CommandRun.success(
      "get", "--dir", directory.path("cache"), "--netrc-file", directory.path("netrc"), "--input-file",
      directory.path("list"))
    return origin.requests.map { $0.fields["authorization"] }
  }

  @Test("the user of a URL gets the password of its entry; a password of the URL stays")
  func userOfURL() async throws {
    let two = "machine 127.0.0.1 login a password 1 machine 127.0.0.1 login b password 2"
    #expect(try await sent(netrc: two, user: "b@").first == basic("b", "2"))
    #expect(try await sent(netrc: two, user: "c@").first == basic("c", ""))
    #expect(try await sent(netrc: two, user: "b:3@").first == basic("b", "3"))
  }

  @Test("user and password in Location are used for that request, as in curl, and not shown")
  func location() async throws {
    let netrc = "machine localhost login b password 2"
    #expect(try await sent(netrc: netrc, "-v", locationUser: "me:secret@").last == basic("me", "secret"))
    #expect(try await sent(netrc: netrc, locationUser: "b@").last == basic("b", "2"))
    #expect(try await sent(netrc: "", "-u", "x:y", locationUser: "me:secret@").last == .some(nil))
  }
}

import HTTPCacheLibC
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Formats of the access log", .timeLimit(.minutes(10))) struct LogTemplateTests {
  private static let time = Duration.seconds(1_795_459_196)

  private static func entry(fields: [String?] = [], bytes: Int64 = 2_326) -> AccessLog.Entry {
    var entry = AccessLog.Entry.sample(
      target: "/a?b", outcome: "miss", status: 200, bytes: bytes, microseconds: 1_234_567, refusal: "no-store"
    )
    entry.fields = fields
    return entry
  }

  @Test(
    "a time before 1970 counts forward from the second before, in each format",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z", "01/Jan/1970:00:00:00"),
      (-1, "1969-12-31T23:59:59.999Z", "31/Dec/1969:23:59:59"),
      (-1_500, "1969-12-31T23:59:58.500Z", "31/Dec/1969:23:59:58"),
      (-2_000, "1969-12-31T23:59:58.000Z", "31/Dec/1969:23:59:58"),
      (-86_400_001, "1969-12-30T23:59:59.999Z", "30/Dec/1969:23:59:59"),
    ])
  func beforeEpoch(milliseconds: Int, internet: String, common: String) {
    let time = Duration.milliseconds(milliseconds)
    #expect(AccessLog.render(Self.entry(), at: time, .plain).hasPrefix(internet + " "))
    #expect(AccessLog.render(Self.entry(), at: time, .json).hasPrefix("{\"time\":\"\(internet)\""))
    #expect(LogTemplate.common.line(Self.entry(), at: time).contains("[\(common) +0000]"))
  }

  @Test("the Common Log Format, and the combined one")
  func named() {
    #expect(
      LogTemplate.common.line(Self.entry(), at: Self.time)
        == "127.0.0.1 - - [23/Nov/2026:18:39:56 +0000] \"GET /a?b HTTP/1.1\" 200 2326\n")
    #expect(LogTemplate.combined.fieldNames == [.referer, .userAgent])
    #expect(
      LogTemplate.combined.line(Self.entry(fields: [nil, "curl/7.88"], bytes: 0), at: Self.time)
        == "127.0.0.1 - - [23/Nov/2026:18:39:56 +0000] \"GET /a?b HTTP/1.1\" 200 - \"-\" \"curl/7.88\"\n")
  }

  @Test(
    "directives",
    arguments: [
      ("%h|%l|%u|%m|%U|%s|%>s|%B|%b|%D|%T|%%", "127.0.0.1|-|-|GET|/a?b|200|200|2326|2326|1234567|1|%"),
      ("%t", "[23/Nov/2026:18:39:56 +0000]"), ("%{outcome}x %{reason}x", "miss no-store"), ("", ""),
      ("%{Accept}i %{Range}i %{accept}i", "a - a"),
    ])
  func directives(format: String, line: String) throws {
    #expect(try LogTemplate(format).line(Self.entry(fields: ["a"]), at: Self.time) == line + "\n")
  }

  @Test("what a client sends cannot end its quotes or its line")
  func escaping() throws {
    let line = try LogTemplate("\"%{User-Agent}i\"").line(
      Self.entry(fields: ["a\" \\ \n\u{1B}[2J é"]), at: Self.time)
    #expect(line == #""a\" \\ \x0a\x1b[2J \xc3\xa9""# + "\n")
  }

  @Test(
    "a format that cannot be read is told",
    arguments: ["%", "%q", "%{Accept", "%{Accept}", "%{a b}i", "%{other}x", "%{Accept}o"])
  func invalid(format: String) { #expect(throws: LogTemplate.Invalid.self) { try LogTemplate(format) } }

  @Test("lines go to the file, also after it was renamed and opened again; hits have their fields too")
  func file() async throws {
    let folder = try ScratchFolder()
    let template = try LogTemplate("%U %{outcome}x %{User-Agent}i")
    let log = try AccessLog(.template(template), path: folder.path("log"))
    try await withProxy(cache: memoryCache(), configure: { $0.accessLog = log }) { proxy in
      try await proxy.miss("/a", answer: "body")
      let client = try proxy.connect()
      // The first answers on the slow path at the latest, the others from prepared bytes.
      for _ in 0..<3 {
        client.send("GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\n\r\n")
        _ = try await client.receive(through: "body")
      }
      await log.flush()
      try #require(rename(folder.path("log"), folder.path("old")) == 0)
      try log.reopen()
      client.send("GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: later\r\n\r\n")
      _ = try await client.receive(through: "body")
      await log.flush()
    }
    let old = String(decoding: folder.file("old").bytes ?? [], as: UTF8.self)
    #expect(old.hasPrefix("/a miss"))
    #expect(old.hasSuffix("/a hit test\n/a hit test\n/a hit test\n"))
    #expect(folder.file("log").bytes == Array("/a hit later\n".utf8))
    #expect(throws: AccessLog.OpenFailure.self) { try AccessLog(.json, path: folder.path("none/log")) }
  }
}

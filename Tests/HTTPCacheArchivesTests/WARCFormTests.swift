import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Forms of WARC that crawlers write, beside those of `WARCSeedTests`.
@Suite("WARC as other programs write it", .timeLimit(.minutes(10)))
struct WARCFormTests: RecordingTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test("a response record without Content-Type has the status and body of its block")
  func noContentType() async throws {
    let seed = try seed(record("response", id: "1", http("hello", status: "404 Not Found")))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(try await found.text() == "hello" && found.response.head.status.code == 404)
  }

  @Test("a response record of another type with an HTTP message has its status and body")
  func wrongContentType() async throws {
    let seed = try seed(record("response", id: "1", content: "text/html", http("hello")))
    #expect(try await seed.text("https://example.com/a") == "hello")
  }

  @Test("a response record without Content-Type and without an HTTP message is left out with a note")
  func noMessage() throws {
    let seed = try seed(
      record("response", id: "1", "<html>"),
      record("response", id: "2", to: "https://example.com/b", http("b")),
      record("response", id: "3", to: "ftp://example.com/c", http("c")))
    #expect(seed.count == 1)
    #expect(
      seed.notes == [
        "record 1: https://example.com/a: not an HTTP response",
        "record 3: not an http or https URL: ftp://example.com/c",
      ])
  }

  @Test("RFC 9110 §15.2: interim responses before the final one do not count")
  func interim() async throws {
    let block = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + http("hello")
    let seed = try seed(record("response", id: "1", content: message, block))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(try await found.text() == "hello" && found.response.head.status.code == 200)
    let alone = try self.seed(
      record("response", id: "1", content: message, "HTTP/1.1 100 Continue\r\n\r\n"), name: "b.warc")
    #expect(alone.count == 0 && alone.noteCount == 1)
    let revisited = try self.seed(
      record("response", id: "1", content: message, http("hello")),
      record(
        "revisit", id: "2", to: "https://example.com/b", content: message,
        rest: "WARC-Refers-To: <urn:1>\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + http("", status: "404 Not Found")), name: "c.warc")
    let second = try #require(try revisited.responses(to: "https://example.com/b").first)
    #expect(try await second.text() == "hello" && second.response.head.status.code == 404)
    #expect(revisited.notes.isEmpty)
  }

  @Test("RFC 9112 §5.1: white space between the name of a field and its colon does not count")
  func spaceBeforeColon() async throws {
    let fields = "ETag \t: \"1\"\r\nContent-Encoding : gzip\r\n"
    let seed = try seed(record("response", id: "1", content: message, http("decoded", fields: fields)))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(found.response.head.headerFields[.eTag] == "\"1\"" && found.response.isDecoded)
  }

  @Test("WARC 1.1 §4: a value may be folded behind its name; a space of a URL counts as encoded")
  func targets() async throws {
    for (url, path) in [("\r\n https://example.com/a", "a"), ("https://example.com/a b", "a%20b")] {
      let seed = try seed(record("response", id: "1", to: url, content: message, http("hello")))
      #expect(try await seed.text("https://example.com/" + path) == "hello")
    }
  }

  @Test("a resource without Content-Type has the type that its content shows")
  func resource() throws {
    let seed = try seed(record("resource", id: "1", "<!DOCTYPE html><p>"))
    #expect(
      try seed.responses(to: "https://example.com/a").first?.response.head.headerFields[.contentType]
        == "text/html")
  }

  @Test("a request without Content-Type tells the method")
  func request() throws {
    let seed = try seed(
      record("response", id: "1", content: message, http("a")),
      record(
        "request", id: "2", rest: "WARC-Concurrent-To: <urn:1>\r\n", "POST /a HTTP/1.1\r\nHost: h\r\n\r\n"),
      record("response", id: "3", to: "https://example.com/b", content: message, http("b")))
    #expect(seed.count == 1 && seed.notes.first?.contains("POST") == true)
  }

  @Test("a request that names several records belongs to each")
  func concurrents() throws {
    let seed = try seed(
      record("response", id: "1", content: message, http("a")),
      record(
        "request", id: "2", rest: "WARC-Concurrent-To: <urn:1>\r\nWARC-Concurrent-To: <urn:9>\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\n\r\n"))
    #expect(seed.count == 0 && seed.notes.count == 1)
  }

  @Test("a revisit without a block has head and body of the record that it names, also of a later one")
  func revisit() async throws {
    let first = record(
      "response", id: "1", content: message, rest: "WARC-Payload-Digest: sha1:A\r\n",
      http("body", fields: "ETag: \"1\"\r\n"))
    let revisits =
      record("revisit", id: "2", to: "https://example.com/b", rest: "WARC-Refers-To: <urn:1>\r\n", "")
      + record("revisit", id: "3", to: "https://example.com/c", rest: "WARC-Payload-Digest: sha1:A\r\n", "")
      + record(
        "revisit", id: "4", to: "https://example.com/d",
        rest:
          "WARC-Refers-To: <urn:1>\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n",
        "")
    for seed in [try seed(first, revisits), try seed(revisits, first)] {
      for name in "abc" {
        let found = try #require(try seed.responses(to: "https://example.com/\(name)").first, "\(name)")
        #expect(try await found.text() == "body" && found.response.head.headerFields[.eTag] == "\"1\"")
      }
      #expect(seed.count == 3 && seed.notes.isEmpty)
    }
    let alone = try seed(
      record("revisit", id: "2", rest: "WARC-Refers-To: <urn:1>\r\n", ""),
      record("resource", id: "5", to: "https://example.com/z", "z"))
    #expect(alone.count == 1 && alone.notes.count == 1)
  }

  @Test(
    "dates may be short",
    arguments: [
      ("2020", 1_577_836_800), ("2020-09", 1_598_918_400), ("2020-09-13", 1_599_955_200),
      ("2020-09-13T12:26Z", 1_600_000_000 - 40), ("2020-09-13T12:26:40Z", 1_600_000_000),
      ("2020-09-13T12:26:40.123456789Z", 1_600_000_000), ("2020-09-13T14:26:40+02:00", 1_600_000_000),
      ("20200913122640", 1_600_000_000), ("2020-09-13T12:26:40", 1_600_000_000), ("1969-12-31T23:59:59Z", -1),
      ("2020-02-30", 0), ("yesterday", 0), ("2020-13", 0), ("", 0),
    ])
  func dates(_ text: String, _ seconds: Int64) throws {
    let seed = try seed(record("response", id: "1", date: text, content: message, http("a")))
    #expect(try seed.responses(from: 0, limit: 1).first?.response.responseTime.seconds == seconds)
  }

  @Test("of several responses to one URL the last counts, with and without their requests")
  func lastCounts() async throws {
    let pair = { (id: String, body: String) in
      record("response", id: id, content: message, http(body))
        + record(
          "request", id: "q" + id, rest: "WARC-Concurrent-To: <urn:\(id)>\r\n",
          "GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
    }
    let alone = { (id: String, body: String) in record("response", id: id, content: message, http(body)) }
    let early = { (id: String, body: String) in
      record("request", id: "q" + id, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        + record(
          "response", id: id, content: message, rest: "WARC-Concurrent-To: <urn:q\(id)>\r\n", http(body))
    }
    for old in [pair, alone, early] {
      for new in [pair, alone, early] {
        let found = try seed(old("1", "old"), new("2", "new"))
        #expect(try await found.text("https://example.com/a") == "new")
        #expect(found.count == 1)
      }
    }
  }

  @Test("bytes behind the end of a body are not part of it, and a body that was decoded is whole")
  func moreBytes() async throws {
    let seed = try seed(
      record("response", id: "1", content: message, http("hello\r\n", fields: "Content-Length: 5\r\n")),
      record(
        "response", id: "2", to: "https://example.com/b", content: message,
        http("decoded text", fields: "Content-Length: 5\r\nContent-Encoding: gzip\r\n")),
      record(
        "response", id: "3", to: "https://example.com/c", content: message,
        http("four", fields: "Content-Length: 5\r\n")))
    #expect(try await seed.text("https://example.com/a") == "hello")
    #expect(try await seed.text("https://example.com/b") == "decoded text")
    let decoded = try seed.responses(to: "https://example.com/b").first?.response
    #expect(decoded?.isDecoded == true && decoded?.head.headerFields[.contentEncoding] == nil)
    #expect(seed.count == 2 && seed.notes.count == 1)
    let short = try self.seed(
      record(
        "response", id: "1", content: message,
        http("{}", fields: "Content-Length: 22\r\nContent-Encoding: gzip\r\n")), name: "d.warc")
    #expect(try await short.text("https://example.com/a") == "{}")
    #expect(try short.responses(to: "https://example.com/a").first?.response.isDecoded == true)

    for coding in ["br", "deflate"] {
      let fields = "Content-Length: 5\r\nContent-Encoding: \(coding)\r\n"
      let other = try self.seed(
        record("response", id: "1", content: message, http("decoded text", fields: fields)),
        record(
          "response", id: "2", to: "https://example.com/b", content: message,
          http("\u{1}bcdemore", fields: fields)), name: "b.warc")
      #expect(try await other.text("https://example.com/a") == "decoded text")
      #expect(try other.responses(to: "https://example.com/a").first?.response.isDecoded == true)
      #expect(try await other.text("https://example.com/b") == "\u{1}bcde")
      let coded = try other.responses(to: "https://example.com/b").first?.response.head.headerFields
      #expect(coded?[.contentEncoding] == coding)
    }

    let twice = "Content-Length: 5\r\nContent-Length: 5\r\n"
    let lengths = try self.seed(
      record("response", id: "1", content: message, http("hello\r\n", fields: twice)),
      record("response", id: "2", to: "https://example.com/b", content: message, http("four", fields: twice)),
      record(
        "response", id: "3", to: "https://example.com/c", content: message,
        http("other", fields: "Content-Length: 5, 6\r\n")), name: "c.warc")
    #expect(try await lengths.text("https://example.com/a") == "hello")
    #expect(try await lengths.text("https://example.com/c") == "other")
    #expect(lengths.notes == ["record 2: https://example.com/b: 4 of 5 bytes were recorded"])
  }

  @Test("WARC 1.1 §4: a body with broken chunks has no records, and reading goes on behind it")
  func recordInBrokenBody() async throws {
    let forged = record(
      "response", id: "9", to: "https://victim.example/app.js", content: message, http("forged"))
    let chunk = "text\r\n" + forged
    let body =
      "493e0\r\n" + chunk + String(repeating: "x", count: 300_000 - chunk.utf8.count) + "\r\nbroken\r\n"
    let text =
      record("response", id: "1", content: message, http("a"))
      + record(
        "response", id: "2", to: "https://example.com/b", content: message,
        http(body, fields: "Transfer-Encoding: chunked\r\n"))
      + record("response", id: "3", to: "https://example.com/c", content: message, http("c"))
    for bytes in [Data(text.utf8), try Data(text.utf8).gzipped] {
      let seed = try seed(bytes, "a.warc")
      #expect(try seed.responses(to: "https://victim.example/app.js").isEmpty)
      #expect(try await seed.text("https://example.com/a") == "a")
      #expect(try await seed.text("https://example.com/c") == "c")
      #expect(seed.count == 2 && seed.notes == ["record 2: its chunks are broken: left out"])
    }
  }

  @Test("a redirect stays without its body, which clients do not need")
  func redirect() throws {
    let fields = ["Transfer-Encoding: chunked\r\n", "Content-Length: 178\r\n"]
    for field in fields {
      let seed = try seed(
        record(
          "response", id: "1", content: message,
          http("", status: "301 Moved Permanently", fields: "Location: /b\r\n" + field)),
        record("response", id: "2", to: "https://example.com/c", content: message, http("", fields: field)))
      #expect(try seed.responses(from: 0, limit: 1).first?.response.head.headerFields[.location] == "/b")
      #expect(seed.count == 1 && seed.notes.count == 1)
    }
  }

  @Test("more line ends behind a record do not count, also in a file of one gzip member")
  func lineEnds() async throws {
    let text =
      record("response", id: "1", content: message, http("a")) + "\r\n"
      + record("response", id: "2", to: "https://example.com/b", content: message, http("b")) + "\r\n\n"
    for bytes in [Data(text.utf8), try Data(text.utf8).gzipped] {
      let seed = try seed(bytes, "a.warc")
      #expect(try await seed.text("https://example.com/b") == "b")
      #expect(seed.count == 2 && seed.notes.isEmpty)
    }
  }

  @Test("a response in several records is left out with a note")
  func segments() throws {
    let seed = try seed(
      record("response", id: "1", content: message, rest: "WARC-Segment-Number: 1\r\n", http("hel")),
      record("response", id: "2", to: "https://example.com/b", content: message, http("b")))
    #expect(seed.count == 1 && seed.notes.count == 1)
  }

  @Test("a record that was cut when it was recorded is left out with a note")
  func truncated() throws {
    let seed = try seed(
      record("response", id: "1", content: message, rest: "WARC-Truncated: time\r\n", http("hel")),
      record(
        "resource", id: "2", to: "https://example.com/b", content: "text/css",
        rest: "WARC-Truncated: length\r\n", "a{"))
    #expect(
      seed.notes == [
        "record 1: https://example.com/a: cut when it was recorded (time)",
        "record 2: https://example.com/b: cut when it was recorded (length)",
      ])
    #expect(seed.count == 0)
  }

  @Test(
    "a form that is not read is named",
    arguments: [[0x28, 0xB5, 0x2F, 0xFD, 0], [0x5D, 0x2A, 0x4D, 0x18, 0]] as [[UInt8]])
  func zstd(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/a.warc.zst"))
    let error = #expect(throws: CacheError.self) { try Seeds.open(path: folder.path + "/a.warc.zst") }
    #expect(error?.message.contains("Zstandard") == true)
  }
}

import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("A WARC file as seeds", .timeLimit(.minutes(10)))
struct WARCSeedTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func seed(_ bytes: Data, _ name: String = "a.warc") throws -> RecordingSeed {
    let path = folder.path + "/" + name
    try bytes.write(to: URL(fileURLWithPath: path))
    return try RecordingSeed(path: path)
  }

  private func seed(_ records: String...) throws -> RecordingSeed { try seed(Data(records.joined().utf8)) }

  private func record(
    _ type: String, id: String = "1", to url: String = "https://example.com/a", rest: String = "",
    content: String? = nil, length: Int? = nil, _ block: String
  ) -> String {
    let media = content ?? "application/http; msgtype=\(type)"
    return "WARC/1.0\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:\(id)>\r\nWARC-Target-URI: \(url)\r\n"
      + "WARC-Date: 2020-09-13T12:26:40Z\r\nContent-Type: \(media)\r\n\(rest)"
      + "Content-Length: \(length ?? block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
  }

  private func response(_ body: String = "text", fields: String = "", status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\n\(fields)\r\n\(body)"
  }

  @Test(
    "keeps status, fields, time and body", arguments: ["https://example.com/a", "<https://example.com/a>"])
  func response(_ url: String) async throws {
    let seed = try seed(
      record("warcinfo", content: "application/warc-fields", "software: a\r\n"),
      record("response", to: url, response(fields: "ETag: \"1\"\r\nno field\r\nSet-Cookie: a=b\r\n")),
      record("metadata", id: "3", content: "text/plain", "a"))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(try await found.text() == "text" && found.response.head.headerFields[.eTag] == "\"1\"")
    #expect(found.response.head.headerFields[.setCookie] == nil)
    #expect(found.response.responseTime.seconds == 1_600_000_000 && seed.notes.isEmpty)
  }

  @Test("removes chunks, also where they were removed before")
  func chunked() async throws {
    let plain = [
      "plain", "a{color:red}", "a{}\nb{c:d}\n", "Bad Request", "Bad Gateway\r\n", "A new day\n",
      "2019 report", "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\n", "1\r\n00:00:01,000 --> 00:00:02,000",
    ]
    var bodies: [(block: String, text: String?)] = [
      ("4;a=b\r\ntext\r\n2\r\n!!\r\n0\r\nA: b\r\n\r\n", "text!!"), ("4 \r\ntext\r\n0\r\n\r\n", "text"),
      ("00000000000000000004\r\ntext\r\n0\r\n\r\n", "text"),
      // Cut, and broken behind a whole chunk.
      ("4\r\ntext\r\n", nil), ("5\r\nhello\r\nXYZ\r\n", nil),
    ]
    for text in plain { bodies.append((text, text)) }
    var records = ""
    for (index, body) in bodies.enumerated() {
      records += record(
        "response", id: "\(index)", to: "https://example.com/\(index)",
        response(body.block, fields: "Transfer-Encoding: chunked\r\n"))
    }
    let seed = try seed(records)
    for (index, body) in bodies.enumerated() {
      #expect(try await seed.text("https://example.com/\(index)") == body.text, "\(body.block)")
    }
    #expect(seed.count == bodies.count - 2 && seed.notes.count == 2)
  }

  @Test("a request tells method and nominated fields, before or after its response")
  func requests() async throws {
    let request = "GET /a HTTP/1.1\r\nHost: example.com\r\nAccept-Language: de\r\n\r\n"
    let vary = response("de", fields: "Vary: Accept-Language\r\n")
    let post = "POST /b HTTP/1.1\r\nHost: example.com\r\n\r\na=b"
    let seed = try seed(
      record("request", id: "q", request),
      record("response", id: "r", rest: "WARC-Concurrent-To: <urn:q>\r\n", vary),
      record("response", id: "s", to: "https://example.com/b", response()),
      record("request", id: "t", to: "https://example.com/b", rest: "WARC-Concurrent-To: <urn:s>\r\n", post),
      record(
        "response", id: "u", to: "https://example.com/c",
        response("alone", fields: "Vary: Accept-Language\r\n")))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(found.response.nominated.map(\.value) == [.text("de")])
    #expect(try seed.responses(to: "https://example.com/c").first?.response.nominated.isEmpty == true)
    #expect(seed.count == 2 && seed.notes.count == 1 && seed.notes[0].contains("POST"))
  }

  @Test("a revisit has the body of the record that it names")
  func revisits() async throws {
    let digest = "WARC-Payload-Digest: sha1:ABC\r\n"
    let seed = try seed(
      record("response", id: "1", rest: digest, response("body")),
      record("revisit", id: "2", to: "https://example.com/b", rest: digest, response("", fields: "A: b\r\n")),
      record(
        "revisit", id: "3", to: "https://example.com/c", rest: "WARC-Refers-To: <urn:1>\r\n", response("")),
      record(
        "revisit", id: "4", to: "https://example.com/d",
        rest:
          "WARC-Refers-To-Target-URI: https://example.com/a\r\nWARC-Refers-To-Date: 2020-09-13T12:26:40Z\r\n",
        response("")),
      record(
        "revisit", id: "5", to: "https://example.com/e", rest: "WARC-Refers-To: <urn:9>\r\n", response("")),
      record("revisit", id: "6", to: "https://example.com/a", response("", status: "304 Not Modified")))
    for name in "abcd" { #expect(try await seed.text("https://example.com/\(name)") == "body", "\(name)") }
    #expect(seed.count == 4 && seed.notes.count == 1)
  }

  @Test("a resource has its type")
  func resource() async throws {
    let seed = try seed(record("resource", content: "text/css", "a{}"))
    let found = try #require(try seed.responses(to: "https://example.com/a").first)
    #expect(try await found.text() == "a{}" && found.response.head.headerFields[.contentType] == "text/css")
  }

  @Test("a corrupt record is left out with a note, and the others are used, also in one gzip member")
  func corrupt() async throws {
    let (good, last) = (
      record("response", response("a")),
      record("response", id: "9", to: "https://example.com/z", response("z"))
    )
    let bad = [
      record("response", id: "2", to: "https://example.com/b", length: 3, response("b")),
      record("response", id: "2", to: "https://example.com/b", length: 100, response("b")),
      record("response", id: "2", to: "https://example.com/b", length: 1 << 40, response("b")),
      record("response", id: "2", to: "https://example.com/b", length: .max, response("b")),
      record("response", id: "2", to: "https://example.com/b", rest: "Content-Length: -1\r\n", response("b"))
        .replacingOccurrences(of: "Content-Length: 4", with: "A: 4"),
      "WARC/1.0\r\nno field\r\n\r\n\r\n\r\n", "noise\r\nmore noise\r\n",
      String(repeating: "x", count: 100_000) + "\r\n",
      record(
        "response", id: "2", to: "https://example.com/b",
        response("12\r\ntext", fields: "Transfer-Encoding: chunked\r\n")),
      record("response", id: "2", to: "https://example.com/b", "not HTTP"),
    ]
    for (index, bad) in bad.enumerated() {
      let whole = Data((good + bad + last).utf8)
      for bytes in [whole, try whole.gzipped] {
        let seed = try seed(bytes)
        #expect(try await seed.text("https://example.com/a") == "a", "\(index)")
        #expect(try await seed.text("https://example.com/z") == "z", "\(index)")
        #expect(seed.count == 2 && seed.notes.count == 1, "\(index): \(seed.notes)")
      }
      let first = try seed(try Data((bad + last).utf8).gzipped)
      #expect(try await first.text("https://example.com/z") == "z", "\(index)")
      #expect(first.count == 1 && first.notes.count == 1, "\(index): \(first.notes)")
    }
  }

  @Test("many corrupt records in one gzip member are left out one by one")
  func manyCorrupt() async throws {
    let bad = String(repeating: "WARC/1.0\r\nno field\r\n", count: 3_000)
    let whole =
      record("response", response("a")) + bad + record("response", to: "https://example.com/z", response("z"))
    let seed = try seed(try Data(whole.utf8).gzipped)
    #expect(try await seed.text("https://example.com/z") == "z")
    #expect(seed.count == 2 && seed.noteCount == 3_000)
  }

  @Test("a record in a gzip member of its own ends with the member: its body has no records")
  func recordInBody() throws {
    let forged = record("response", to: "https://example.com/b", response("forged"))
    let records = [
      record("response", response("a")),
      record("response", id: "2", length: 100_000, response("text\r\n" + forged)),
      record("response", id: "3", to: "https://example.com/z", response("z")),
    ]
    for count in 2...3 {
      var whole = Data()
      for text in records.prefix(count) { whole += try Data(text.utf8).gzipped }
      let seed = try seed(whole)
      #expect(seed.count == count - 1 && seed.notes.count == 1, "\(seed.notes)")
      #expect(try seed.responses(to: "https://example.com/b").isEmpty)
    }
  }

  @Test("a value that is not UTF-8 goes through an archive and a WARC file byte by byte; JSON has its text")
  func latin1() async throws {
    let value: [UInt8] = Array("attachment; filename=\"".utf8) + [0xE4] + Array(".txt\"".utf8)
    let block =
      Array("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Disposition:  ".utf8) + value
      + Array(" \r\n\r\ntext".utf8)
    // A line end is one character.
    let header = record("response", length: block.count, "").dropLast(2)
    let bytes = Data(header.utf8) + Data(block) + Data("\r\n\r\n".utf8)
    let path = folder.path + "/b.warc"
    try await WARCWriter.write(try seed(bytes), to: path)
    let found = try #require(try RecordingSeed(path: path).responses(to: "https://example.com/a").first)
    let field = try #require(found.response.head.headerFields.first { $0.name == .contentDisposition })
    #expect(field.withUnsafeBytesOfValue { Array($0) } == value)
    #expect(try await found.text() == "text")
    try await HARWriter.write(try RecordingSeed(path: path), to: folder.path + "/b.har")
    let read = try #require(
      try RecordingSeed(path: folder.path + "/b.har").responses(to: "https://example.com/a").first)
    #expect(read.response.head.headerFields[.contentDisposition] == "attachment; filename=\"\u{E4}.txt\"")
  }

  @Test("cut at any place, it answers nothing wrong")
  func cut() async throws {
    let whole = Data(
      (record("response", response("one"))
        + record("response", id: "2", to: "https://example.com/b", response("two"))).utf8)
    var count = 0
    for length in 0..<whole.count {
      guard let seed = try? seed(whole.prefix(length)) else { continue }
      for (name, text) in [("a", "one"), ("b", "two")] {
        guard let found = try await seed.text("https://example.com/\(name)") else { continue }
        #expect(found == text, "\(length)")
        count += 1
      }
    }
    #expect(count > 0, "the first record is whole")
  }

  @Test("a file without a whole record is refused with the reason, and another file as what it is")
  func noWholeRecord() throws {
    let cut = Data(record("response", response("one")).utf8.dropLast(10))
    for bytes in [cut, try cut.gzipped, try cut.gzipped.dropLast(12)] {
      let error = #expect(throws: CacheError.self) { try seed(bytes) }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("a.warc has no whole record (record 1: ") == true)
    }
    let error = #expect(throws: CacheError.self) { try seed(try Data("text".utf8).gzipped) }
    let reason = "a.warc is compressed with gzip, and is neither a WARC, an ARC nor a HAR file"
    #expect(error?.message.hasSuffix(reason) == true)
  }

  @Test("compressed by record, a damaged member is left out and the others are used")
  func gzip() async throws {
    let source = try ScratchFolder()
    for name in "abc" {
      try source.write("example.com/\(name).txt", String(repeating: String(name), count: 3_000))
    }
    let path = folder.path + "/a.warc.gz"
    try await WARCWriter.write(try FolderSeed(path: source.path), to: path)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // Each file answers http and https, with a slash at the end and without: a response, three revisits and a request.
    #expect(try seed(whole).count == 12)
    let members = whole.indices.filter { whole[$0...].starts(with: [0x1F, 0x8B, 0x08]) }
    #expect(members.count == 16)
    for index in stride(from: members[6], to: members[7], by: 7) {
      var damaged = whole
      damaged[index] ^= 0x55
      let seed = try seed(damaged)
      for name in "ac" {
        #expect(try await seed.text("https://example.com/\(name).txt")?.count == 3_000, "byte \(index)")
      }
      if let text = try await seed.text("https://example.com/b.txt") {
        #expect(text == String(repeating: "b", count: 3_000), "byte \(index)")
      }
    }
    for length in [1, 10, whole.count / 2, whole.count - 1] { _ = try? seed(whole.prefix(length)) }
  }

  @Test("RFC 5234 §2.3: the letters of a record's version may be in any case")
  func lowerCase() async throws {
    let records = ["a", "b", "c"].map { name in
      record("response", id: name, to: "https://example.com/\(name)", response(name))
        .replacing("WARC/1.0", with: name == "b" ? "WARC/1.0" : "warc/1.0")
    }
    let seed = try seed(Data(records.joined().utf8))
    for name in ["a", "b", "c"] { #expect(try await seed.text("https://example.com/\(name)") == name) }
    // Reading goes on with such a record behind a damaged one.
    let damaged = try self.seed(Data(("warc/1.0\r\nnone\r\n\r\n" + records[2]).utf8))
    #expect(try await damaged.text("https://example.com/c") == "c" && damaged.noteCount == 1)
    #expect(seed.count == 3 && seed.notes.isEmpty)
  }

  @Test("other files are refused", arguments: ["", "text", "WARC", "{", "\u{1F}\u{8B}"])
  func others(_ text: String) throws {
    #expect(throws: CacheError.self) { try seed(Data(text.utf8)) }
  }
}

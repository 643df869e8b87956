import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("ARC files", .timeLimit(.minutes(10)))
struct ARCFormTests: RecordingTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func document(
    _ url: String, _ type: String, _ block: String, rest: String = "", date: String = "20200913122640"
  ) -> String {
    "\(url) 127.0.0.1 \(date) \(type) \(rest)\(block.utf8.count)\n\(block)\n"
  }

  private func arc(isSecond: Bool = false) -> String {
    let (one, head) =
      isSecond
      ? (
        "200 - - 0 a.arc ",
        "2 0 test\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n"
      )
      : ("", "1 0 test\nURL IP-address Archive-date Content-type Archive-length\n")
    return document("filedesc://a.arc", "text/plain", head, rest: one)
      + document("https://example.com/a", "text/plain", http("one"), rest: one)
      + document("dns:example.com", "text/dns", "1.2.3.4", rest: one)
      + document("https://example.com/a b", "text/plain", http("two"), rest: one)
      + document("https://example.com/a", "text/plain", http("new"), rest: one)
  }

  @Test("an ARC file, version 1 and 2", arguments: [false, true])
  func arc(_ isSecond: Bool) async throws {
    let seed = try seed(arc(isSecond: isSecond), name: "a.arc")
    #expect(try await seed.text("https://example.com/a") == "new")
    #expect(try await seed.text("https://example.com/a%20b") == "two")
    #expect(seed.newest.seconds == 1_600_000_000 && seed.count == 2)
    let opened = try Seeds.open(path: folder.path + "/a.arc")
    #expect(opened.count == 2)
  }

  @Test(
    "a document of ARC whose date is no date has the time 0", arguments: ["00000000000000", "20201340", "-"])
  func arcDates(_ date: String) async throws {
    let seed = try seed(
      arc(), document("https://example.com/c", "text/plain", http("c"), date: date),
      document("https://example.com/d", "text/plain", http("d")), name: "a.arc")
    let found = try #require(try seed.responses(to: "https://example.com/c").first)
    #expect(try await found.text() == "c" && found.response.responseTime.seconds == 0)
    #expect(try await seed.text("https://example.com/d") == "d")
    #expect(seed.count == 4)
  }

  @Test("a document with broken chunks is left out with a note, and reading goes on behind it")
  func brokenChunks() async throws {
    let forged = document("https://victim.example/app.js", "text/plain", http("forged"))
    let body =
      "493e0\r\n\n" + forged + String(repeating: "x", count: 299_999 - forged.utf8.count) + "\r\nbroken\r\n"
    let seed = try seed(
      arc(),
      document("https://example.com/c", "text/plain", http(body, fields: "Transfer-Encoding: chunked\r\n")),
      document("https://example.com/d", "text/plain", http("d")), name: "a.arc")
    #expect(try seed.responses(to: "https://victim.example/app.js").isEmpty)
    #expect(try await seed.text("https://example.com/d") == "d")
    // The other note is on the document of DNS.
    #expect(seed.count == 3 && seed.notes.count == 2, "\(seed.notes)")
    #expect(seed.notes.last == "record 6: its chunks are broken: left out")
  }

  @Test("an ARC file that was cut keeps what is whole")
  func cutARC() async throws {
    let whole = Data(arc().utf8)
    var texts: Set<String> = []
    for length in stride(from: 200, to: whole.count, by: 3) {
      guard let seed = try? seed(whole.prefix(length), "a.arc") else { continue }
      if let text = try await seed.text("https://example.com/a") { texts.insert(text) }
    }
    #expect(texts.contains("one") && texts.isSubset(of: ["one", "new"]))
  }
}

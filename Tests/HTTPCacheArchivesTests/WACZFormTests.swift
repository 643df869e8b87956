import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@Suite("WACZ files", .timeLimit(.minutes(10)))
struct WACZFormTests: RecordingTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// A ZIP file without compression.
  private func zip(_ files: [(name: String, content: Data)]) -> Data {
    func number(_ value: Int, _ count: Int) -> Data {
      Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
    var (output, directory) = (Data(), Data())
    for (name, content) in files {
      let rest =
        number(20, 2) + number(0, 8) + number(0, 4) + number(content.count, 4) + number(content.count, 4)
        + number(name.utf8.count, 2) + number(0, 2)
      directory +=
        number(0x0201_4B50, 4) + number(20, 2) + rest + number(0, 10) + number(output.count, 4)
        + Data(name.utf8)
      output += number(0x0403_4B50, 4) + rest + Data(name.utf8) + content
    }
    return output + directory + number(0x0605_4B50, 4) + number(0, 4) + number(files.count, 2)
      + number(files.count, 2) + number(directory.count, 4) + number(output.count, 4) + number(0, 2)
  }

  @Test("a WACZ file: the WARC files of its archive")
  func wacz() async throws {
    let (one, two) = (
      Data(record("response", id: "1", content: message, http("one")).utf8),
      Data(
        (record("response", id: "1", content: message, http("two"))
          + record("response", id: "2", to: "https://example.com/b", content: message, http("b"))
          + record("response", id: "3", to: "https://example.com/c", content: message, "no message")).utf8)
    )
    let bytes = zip([
      ("datapackage.json", Data("{}".utf8)), ("archive/1.warc", one), ("archive/2.warc", two),
      ("pages/pages.jsonl", Data()),
    ])
    let seed = try seed(bytes, "a.wacz")
    #expect(try await seed.text("https://example.com/a") == "two")
    #expect(try await seed.text("https://example.com/b") == "b")
    #expect(seed.count == 2 && seed.notes.count == 1)
    #expect(seed.notes.first?.hasPrefix("archive/2.warc, record ") == true)
    for length in stride(from: 4, to: bytes.count, by: 5) {
      _ = try? self.seed(bytes.prefix(length), "b.wacz")
    }
    #expect(throws: CacheError.self) { try self.seed(zip([("a.txt", one)]), "c.zip") }
  }

  @Test("a revisit in a WACZ file has the body of a record in another WARC file, before or behind its own")
  func waczRevisit() async throws {
    let first = Data(record("response", id: "1", content: message, http("body")).utf8)
    let revisit = Data(
      record("revisit", id: "2", to: "https://example.com/b", rest: "WARC-Refers-To: <urn:1>\r\n", "").utf8)
    for files in [[first, revisit], [revisit, first]] {
      let seed = try seed(zip([("archive/1.warc", files[0]), ("archive/2.warc", files[1])]), "a.wacz")
      for name in "ab" { #expect(try await seed.text("https://example.com/\(name)") == "body", "\(name)") }
      #expect(seed.count == 2 && seed.notes.isEmpty)
    }
    let other = Data(record("resource", id: "3", "other").utf8)
    let alone = try seed(zip([("archive/1.warc", revisit), ("archive/2.warc", other)]), "b.wacz")
    #expect(
      alone.notes == ["archive/1.warc, record 1: https://example.com/b: the recording has no body for it"])
  }
}

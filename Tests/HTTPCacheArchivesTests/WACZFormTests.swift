import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("WACZ files", .timeLimit(.minutes(10)))
struct WACZFormTests: RecordingTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// A ZIP file without compression.
  ///
  /// - Parameters:
  ///   - flags: the flags of each member; 1 is encrypted.
  ///   - method: the method of compression that the headers name.
  private func zip(_ files: [(name: String, content: Data)], flags: Int = 0, method: Int = 0) -> Data {
    func number(_ value: Int, _ count: Int) -> Data {
      Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
    var (output, directory) = (Data(), Data())
    for (name, content) in files {
      let rest =
        number(20, 2) + number(flags, 2) + number(method, 2) + number(0, 4) + number(0, 4)
        + number(content.count, 4) + number(content.count, 4) + number(name.utf8.count, 2) + number(0, 2)
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

  /// The first bytes of a file in Zstandard, also of one with a dictionary, in xz and in bzip2.
  private static let unread: [(form: String, start: [UInt8])] = [
    ("Zstandard", [0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0]), ("Zstandard", [0x5D, 0x2A, 0x4D, 0x18, 0, 0, 0]),
    ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0]), ("bzip2", [0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59]),
  ]

  @Test(
    "a WARC file in a form that is not read is noted by the name of the form, beside others that are read")
  func unreadBesideOthers() async throws {
    let sound = Data(record("response", id: "1", content: message, http("body")).utf8)
    for (form, start) in Self.unread {
      for name in ["2.warc.zst", "2.ARC.xz", "2.warc.bz2", "2.warc.gz", "2.warc"] {
        let seed = try seed(
          zip([("archive/1.warc.gz", try sound.gzipped), ("archive/" + name, Data(start))]), "a.wacz")
        #expect(try await seed.text("https://example.com/a") == "body")
        #expect(seed.count == 1 && seed.notes.count == 1)
        #expect(
          seed.notes.first?.hasPrefix("archive/\(name): compressed with \(form), which is not read: ") == true
        )
      }
    }
  }

  @Test("a WACZ file of which no WARC file can be read is refused, with the name of the form")
  func unreadAlone() throws {
    let sound = Data(record("response", id: "1", content: message, http("body")).utf8)
    for (form, start) in Self.unread {
      let error = #expect(throws: CacheError.self) {
        try self.seed(zip([("archive/1.warc.zst", Data(start)), ("archive/2.warc", Data(start))]), "a.wacz")
      }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("archive/1.warc.zst: compressed with \(form), which") == true)
      try Data(start).write(to: URL(fileURLWithPath: folder.path + "/a.warc.x"))
      let ofFile = #expect(throws: CacheError.self) { try Seeds.open(path: folder.path + "/a.warc.x") }
      #expect(ofFile?.message.contains("a.warc.x is compressed with \(form), which is not read") == true)
    }
    let methods = [
      (9, "Deflate64"), (12, "bzip2"), (14, "LZMA"), (93, "Zstandard"), (95, "xz"), (97, "method 97"),
    ]
    for (method, name) in methods {
      let error = #expect(throws: CacheError.self) {
        try self.seed(zip([("archive/1.warc", sound)], method: method), "a.wacz")
      }
      #expect(error?.message.contains("compressed in the ZIP file with \(name), which is not read") == true)
    }
    for method in [0, 8, 99] {
      let error = #expect(throws: CacheError.self) {
        try self.seed(zip([("archive/1.warc", sound)], flags: 1, method: method), "a.wacz")
      }
      #expect(error?.message.contains("archive/1.warc: encrypted in the ZIP file, which is not") == true)
    }
    let damaged = #expect(throws: CacheError.self) {
      try self.seed(zip([("archive/1.warc", Data("text".utf8))]), "a.wacz")
    }
    #expect(damaged?.message.hasSuffix("archive/1.warc: the file is not a WARC file") == true)
  }
}

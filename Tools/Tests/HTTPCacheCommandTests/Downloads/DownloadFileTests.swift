import ArgumentParser
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// Files of URLs.
@Suite(.timeLimit(.minutes(10))) struct DownloadFileTests {
  @Test("a file has a URL per line, as wget reads it; comments and empty lines are left out")
  func lines() throws {
    let file = try DownloadFile("# films\r\nhttp://a/1\r\n\r\n\nhttp://a/2  \n", path: "list")
    #expect(file.entries.map(\.url) == ["http://a/1", "http://a/2"])
    #expect(file.entries.map(\.line) == [2, 5])
    #expect(file.notes.isEmpty)
  }

  @Test("a mark of UTF-8 before the first URL is left out")
  func mark() throws {
    #expect(try DownloadFile("\u{FEFF}http://a/1\n", path: "list").entries.map(\.url) == ["http://a/1"])
  }

  @Test("indented lines are options of the URL before them, as aria2 reads them")
  func options() throws {
    let digest = String(repeating: "0a", count: 32)
    let file = try DownloadFile(
      "http://a/1\n  out=film.mp4\n\tdir=/films\n checksum=sha-256=\(digest)\n header=Accept: a/b\n split=4\nhttp://a/2\n",
      path: "list")
    let first = try #require(file.entries.first)
    #expect(first.name == "film.mp4")
    #expect(first.folder == "/films")
    #expect(first.digests == [IntegrityDigest(algorithm: .sha256, value: .init(repeating: 10, count: 32))])
    #expect(first.headers.map(\.value) == ["a/b"])
    #expect(first.segments == 4)
    #expect(file.entries.last?.name == nil)
  }

  @Test("further URLs of a line are mirrors")
  func mirrors() throws {
    let file = try DownloadFile("http://a/1\thttp://b/1 \t\thttps://c/1\n", path: "list")
    #expect(file.entries.map(\.url) == ["http://a/1"])
    #expect(file.entries.first?.mirrors == ["http://b/1", "https://c/1"])
    #expect(file.notes.isEmpty)
  }

  @Test("unknown options are told, and have no effect")
  func notes() throws {
    let file = try DownloadFile("http://a/1\n  max-tries=5\n", path: "list")
    #expect(file.notes == ["list, line 2: max-tries= is not known and has no effect"])
  }

  @Test(
    "a checksum of each algorithm",
    arguments: [("md5", 16), ("sha-1", 20), ("sha1", 20), ("SHA-256", 32), ("sha-512", 64)])
  func checksums(name: String, length: Int) throws {
    let digits = String(repeating: "0A", count: length)
    let file = try DownloadFile("http://a/1\n checksum=\(name)=\(digits)\n", path: "list")
    #expect(file.entries.first?.digests.first?.value == [UInt8](repeating: 10, count: length))
    #expect(throws: ValidationError.self) {
      try DownloadFile("http://a/1\n checksum=\(name)=\(digits)0\n", path: "list")
    }
  }

  @Test(
    "a wrong line names the file and its number",
    arguments: [
      (" out=a\n", "list, line 1: an option before any URL"),
      ("http://a/1\n out\n", "list, line 2: 'out' is"),
      ("http://a/1\n out=\n", "list, line 2: out= has no value"),
      ("http://a/1\n split=99\n", "list, line 2: split= must be from 1 to 16"),
      ("http://a/1\n checksum=md5=00\n", "list, line 2: checksum= requires md5= and 32"),
      ("http://a/1\n checksum=crc32=00\n", "list, line 2: checksum= requires sha-256="),
    ])
  func wrong(text: String, message: String) {
    do {
      _ = try DownloadFile(text, path: "list")
      Issue.record("no error for \(text)")
    } catch {
      let told = (error as? ValidationError)?.message ?? ""
      #expect(told.hasPrefix(message), "\(error)")
    }
  }
}

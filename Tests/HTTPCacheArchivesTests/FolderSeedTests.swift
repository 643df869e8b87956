import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("A folder as a seed", .timeLimit(.minutes(10)))
struct FolderSeedTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test(
    "the layout of EVURLCache",
    arguments: [
      ("evict.nl/ios/samples/index.html", "https://evict.nl/ios/samples/"),
      ("evict.nl/ios/samples/index.html", "https://evict.nl/ios/samples"),
      ("evict.nl/ios/samples/index.html", "http://evict.nl/ios/samples/index.html"),
      ("evict.nl/index.html", "https://evict.nl/"),
      ("evict.nl/a.css", "https://evict.nl/a.css"),
      ("evict.nl/a.json_q=1&r=2", "https://evict.nl/a.json?q=1&r=2"),
      ("evict.nl/a/index.html_q=1", "https://evict.nl/a?q=1"),
      ("evict.nl/a b.txt", "https://evict.nl/a%20b.txt"),
      ("evict.nl/a.txt_q=a b", "https://evict.nl/a.txt?q=a%20b"),
      ("evict.nl/a.txt_q=a/b", "https://evict.nl/a.txt?q=a/b"),
      ("evict.nl/plain", "https://evict.nl/plain"),
      ("evict.nl/v1.0/index.html", "https://evict.nl/v1.0/"),
      ("evict.nl/x/y.txt", "https://evict.nl/x//y.txt"),
      ("127.0.0.1_8080/a.txt", "http://127.0.0.1:8080/a.txt"),
    ])
  func layout(_ file: String, _ target: String) async throws {
    try folder.write(file, "here")
    #expect(try await FolderSeed(path: folder.path).text(target) == "here")
  }

  @Test(
    "a path with another query, host, port or case has no file",
    arguments: [
      "https://evict.nl/a.css?q=1", "https://evict.com/a.css", "https://evict.nl:8443/a.css",
      "https://evict.nl/A.css", "https://evict.nl/a.css/b", "https://evict.nl/b",
    ])
  func other(_ target: String) throws {
    try folder.write("evict.nl/a.css", "here")
    #expect(try FolderSeed(path: folder.path).responses(to: target).isEmpty)
  }

  @Test("without regard to case, as FORCE_LOWERCASE; of two names that are then equal, the first answers")
  func caseIgnored() async throws {
    try folder.write("evict.nl/A.css", "upper")
    try folder.write("evict.nl/a.css", "lower")
    let seed = try FolderSeed(path: folder.path, options: .init(ignoresCase: true))
    #expect(try await seed.text("https://evict.nl/a.CSS") == "upper")
    #expect(seed.count == 1)
    #expect(seed.notes == ["evict.nl/a.css: the same name as evict.nl/A.css"])
    #expect(try await FolderSeed(path: folder.path).text("https://evict.nl/a.css") == "lower")
  }

  @Test("both Unicode normal forms of a name are one name")
  func normalForms() async throws {
    try folder.write("evict.nl/u\u{308}.txt", "decomposed")
    let seed = try FolderSeed(path: folder.path)
    #expect(try await seed.text("https://evict.nl/%C3%BC.txt") == "decomposed")
    #expect(try await seed.text("https://evict.nl/u%CC%88.txt") == "decomposed")
    try folder.write("evict.nl/\u{FC}.txt", "composed")
    #expect(try FolderSeed(path: folder.path).notes.count == 1)
  }

  @Test(
    "no request leaves the folder",
    arguments: [
      "https://evict.nl/%2e%2e/%2e%2e/secret.txt", "https://evict.nl/..%2f..%2fsecret.txt",
      "https://evict.nl/a.txt?/../../../secret.txt", "https://evict.nl/%2fetc%2fpasswd",
      "https://evict.nl/link.txt", "https://evict.nl/out/secret.txt", "https://evict.nl/a%00.txt",
    ])
  func traversal(_ target: String) throws {
    let outside = try ScratchFolder()
    try outside.write("secret.txt", "secret")
    try folder.write("evict.nl/a.txt", "here")
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: folder.path + "/evict.nl/link.txt", withDestinationPath: outside.path + "/secret.txt")
    try manager.createSymbolicLink(
      atPath: folder.path + "/evict.nl/out", withDestinationPath: outside.path)
    let seed = try FolderSeed(path: folder.path)
    #expect(try seed.responses(to: target).isEmpty)
    #expect(seed.count == 1)
    #expect(seed.notes.count == 2)
  }

  @Test("a folder that became a symbolic link after opening is not followed")
  func swapped() async throws {
    let outside = try ScratchFolder()
    try outside.write("a.txt", "here")
    try folder.write("evict.nl/a.txt", "here")
    let seed = try FolderSeed(path: folder.path)
    try FileManager.default.removeItem(atPath: folder.path + "/evict.nl")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/evict.nl", withDestinationPath: outside.path)
    await #expect(throws: CacheError.self) { try await seed.text("https://evict.nl/a.txt") }
  }

  @Test("a file that changed its length after opening is not answered")
  func changed() async throws {
    try folder.write("evict.nl/a.txt", "here")
    let seed = try FolderSeed(path: folder.path)
    try folder.write("evict.nl/a.txt", "longer than before")
    await #expect(throws: CacheError.self) { try await seed.text("https://evict.nl/a.txt") }
  }

  @Test("a file where a folder should be, and a folder where a file should be")
  func wrongKinds() throws {
    try folder.write("evict.nl/a", "a file")
    try folder.write("evict.nl/b.txt/c.txt", "deeper")
    try folder.write("root.txt", "in no host's folder")
    let seed = try FolderSeed(path: folder.path)
    #expect(try seed.responses(to: "https://evict.nl/a/index.html").isEmpty)
    #expect(try seed.responses(to: "https://evict.nl/b.txt").isEmpty)
    #expect(seed.count == 2)
    #expect(throws: CacheError.self) { try FolderSeed(path: folder.path + "/root.txt") }
    #expect(throws: CacheError.self) { try FolderSeed(path: folder.path + "/none") }
  }

  @Test("an archive of objects, as EVURLCache wrote its files, is left out; a property list is not")
  func objectArchives() async throws {
    try folder.write("evict.nl/a.html", "bplist00 and objects")
    try folder.write("evict.nl/b.plist", "bplist00 and values")
    let seed = try FolderSeed(path: folder.path)
    #expect(try seed.responses(to: "https://evict.nl/a.html").isEmpty)
    #expect(try await seed.text("https://evict.nl/b.plist") == "bplist00 and values")
    #expect(seed.count == 1 && seed.notes.count == 1)
  }

  @Test("more files than the limit are refused")
  func limit() throws {
    for number in 0..<4 { try folder.write("evict.nl/\(number).txt", "") }
    #expect(throws: CacheError.self) { try FolderSeed(path: folder.path, options: .init(maximumFiles: 3)) }
    #expect(try FolderSeed(path: folder.path, options: .init(maximumFiles: 4)).count == 4)
  }

  @Test(
    "types come from the extension, then from the content",
    arguments: [
      ("a.css", "", "text/css"), ("a.json_q=1.2", "", "application/json"),
      ("a", "<!DOCTYPE html>", "text/html"),
      ("b", "{\"a\":1}", "application/json"), ("c", "plain", "text/plain; charset=utf-8"),
      ("d", "\u{0}\u{1}", "application/octet-stream"), ("e.xyz", "%PDF-1.4", "application/pdf"),
      ("f", "<svg xmlns=\"\">", "image/svg+xml"), ("g", "", "text/plain; charset=utf-8"),
    ])
  func types(_ name: String, _ text: String, _ type: String) throws {
    try folder.write("evict.nl/\(name)", text)
    let seed = try #require(try FolderSeed(path: folder.path).responses(from: 0, limit: 1).first)
    #expect(seed.response.head.headerFields[.contentType] == type)
    #expect(seed.response.head.headerFields[.contentLength] == String(text.utf8.count))
  }

  @Test("a file without a recorded head is stale, and as old as the file")
  func times() throws {
    try folder.write("evict.nl/a.txt", "here")
    let response = try #require(
      try FolderSeed(path: folder.path).responses(to: "https://evict.nl/a.txt").first?.response)
    #expect(response.facts.freshnessLifetime == 0)
    #expect(response.responseTime == Timestamp(seconds: 1_600_000_000))
    #expect(response.head.headerFields[.eTag] == nil && response.head.headerFields[.lastModified] == nil)
  }

  @Test("seeds.jsonl gives files their heads, targets and times")
  func manifest() async throws {
    try folder.write("any/name", "here")
    try folder.write(
      "seeds.jsonl",
      """
      {"target":"HTTPS://Evict.nl/x?y","file":"any/name","status":404,"received":1500000000,"fields":[["ETag","\\"a\\""],["Cache-Control","max-age=5"],["Set-Cookie","a=b"],["Content-Length","99"]]}

      {"target":"https://evict.nl/none","file":"../outside","status":200,"fields":[]}
      """)
    let seed = try FolderSeed(path: folder.path)
    let found = try #require(try seed.responses(to: "https://evict.nl/x?y").first)
    #expect(try await found.text() == "here")
    #expect(found.response.head.status.code == 404)
    #expect(found.response.facts.freshnessLifetime == 5)
    #expect(found.response.responseTime == Timestamp(seconds: 1_500_000_000))
    #expect(found.response.head.headerFields[.eTag] == "\"a\"")
    #expect(found.response.head.headerFields[.setCookie] == nil)
    #expect(found.response.head.headerFields[.contentLength] == "4")
    #expect(seed.count == 1)
    #expect(seed.notes == ["seeds.jsonl, line 3: there is no file ../outside"])
    #expect(seed.newest == Timestamp(seconds: 1_500_000_000))
  }

  @Test("a file with a recorded head answers the recorded URL only: another would miss the coding")
  func recordedOnly() throws {
    try folder.write("evict.nl/a.txt", "coded")
    try folder.write(
      "seeds.jsonl",
      #"{"target":"https://evict.nl/a.txt","file":"evict.nl/a.txt","status":404,"fields":[["Content-Encoding","gzip"]]}"#
    )
    let seed = try FolderSeed(path: folder.path)
    #expect(try seed.responses(to: "https://evict.nl/a.txt").first?.response.head.status.code == 404)
    #expect(try seed.responses(to: "http://evict.nl/a.txt").isEmpty && seed.count == 1)
  }

  @Test("times at the ends of their range go through every form", arguments: ExportForm.allCases)
  func extremeTimes(_ form: ExportForm) async throws {
    try folder.write("PreCache/evict.nl/a.txt", "here")
    try folder.write(
      "PreCache/seeds.jsonl",
      #"{"target":"https://evict.nl/a.txt","file":"evict.nl/a.txt","status":200,"received":\#(Int64.max),"#
        + #""requested":\#(Int64.min),"fields":[["Age","99999999999999999999"]]}"#)
    let path = folder.path + "/out.\(form.rawValue)"
    try await form.write(try FolderSeed(path: folder.path + "/PreCache"), to: path)
    #expect(try await Seeds.open(path: path).text("https://evict.nl/a.txt") == "here")
  }

  @Test("several URLs have one file by the name that MobileAppCacheKey gave them")
  func alias() async throws {
    try folder.write("evict.nl/product", "shared")
    try folder.write("evict.nl/product.json_v=2", "version")
    try folder.write("secret.txt", "outside of the host")
    let seed = try FolderSeed(
      path: folder.path,
      options: .init(alias: { target in
        if target.contains("/escape") { return "../secret.txt" }
        return target.contains("/api") ? "product.json" : target.contains("/shop/") ? "product" : nil
      }))
    #expect(try await seed.text("https://evict.nl/shop/1") == "shared")
    #expect(try await seed.text("https://evict.nl/shop/2") == "shared")
    #expect(try await seed.text("https://evict.nl/api?v=2") == "version")
    #expect(try seed.responses(to: "https://evict.nl/escape").isEmpty)
    #expect(try seed.responses(to: "https://other.nl/shop/1").isEmpty)
  }

  @Test("Vary counts with the fields of the request, and is dropped without them")
  func vary() throws {
    try folder.write("evict.nl/a.txt", "here")
    let line =
      #"{"target":"https://evict.nl/a.txt","file":"evict.nl/a.txt","status":200,"fields":[["Vary","Accept-Language"]]"#
    try folder.write("seeds.jsonl", line + "}\n" + line + #","request":[["Accept-Language","de"]]}"#)
    let found = try FolderSeed(path: folder.path).responses(to: "https://evict.nl/a.txt")
    #expect(found.map { $0.response.nominated.count } == [0, 1])
    #expect(found.map { $0.response.head.headerFields[.vary] } == [nil, "Accept-Language"])
  }

  @Test(
    "a bad line of seeds.jsonl is told with its number",
    arguments: [
      "not JSON", "{}", #"{"target":"ftp://a/","file":"a","status":200,"fields":[]}"#,
      #"{"target":"https://a/","file":"a","status":206,"fields":[]}"#,
      #"{"target":"https://a/","file":"a","status":200,"fields":[["a b","c"]]}"#,
      #"{"target":"https://a/","file":"a","status":200,"fields":[["a","c\nd"]]}"#,
      #"{"target":"https://a/","file":"a","status":200,"fields":[["a"]]}"#,
    ])
  func badManifest(_ line: String) throws {
    try folder.write("seeds.jsonl", "\n" + line)
    let error = #expect(throws: CacheError.self) { try FolderSeed(path: folder.path) }
    #expect(error?.code == .damaged)
    #expect(error?.message.hasPrefix("seeds.jsonl, line 2: ") == true)
  }

  @Test("the list has each response once, in pages of any size")
  func listing() throws {
    for number in 0..<5 { try folder.write("evict.nl/\(number)/index.html", "") }
    let seed = try FolderSeed(path: folder.path)
    for limit in 1...6 {
      var targets: [String] = []
      while targets.count < seed.count {
        targets += try seed.responses(from: targets.count, limit: limit).map(\.target)
      }
      #expect(targets == (0..<5).map { "https://evict.nl/\($0)/" })
    }
  }

  @Test("a body is cloned, and read in ranges")
  func bodies() async throws {
    try folder.write("evict.nl/a.txt", "0123456789")
    let seed = try #require(try FolderSeed(path: folder.path).responses(to: "https://evict.nl/a.txt").first)
    let reader = try seed.body.open()
    #expect(try await reader.read(2..<5).array == Array("234".utf8))
    #expect(try await reader.read(8..<50).array == Array("89".utf8))
    try await reader.clone(to: folder.path + "/copy")
    #expect(try String(contentsOfFile: folder.path + "/copy", encoding: .utf8) == "0123456789")
  }
}

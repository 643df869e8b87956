import Foundation
import HTTPCacheArchives
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Synchronization
import Testing

@Suite("Content that ships with an app", .timeLimit(.minutes(10)))
struct ShippedContentTests {
  private let folder: ScratchFolder
  private let paths = (0..<10).map { "/\($0).txt" }

  init() throws { folder = try ScratchFolder() }

  private func seed(_ form: ExportForm) async throws -> any SeedSource {
    let root = folder.url("PreCache")
    let host = root.appendingPathComponent("example.com")
    try FileManager.default.createDirectory(at: host, withIntermediateDirectories: true)
    var lines = ""
    for path in paths {
      try Data("shipped \(path)".utf8).write(to: host.appendingPathComponent(String(path.dropFirst())))
      lines +=
        #"{"target":"https://example.com\#(path)","file":"example.com\#(path)","status":200,"received":1600000000,"#
        + #""fields":[["ETag","\"1\""],["Content-Type","text/plain"]]}"# + "\n"
    }
    try Data(lines.utf8).write(to: root.appendingPathComponent("seeds.jsonl"))
    let source = try FolderSeed(path: root.path)
    if form == .folder { return source }
    let path = folder.url("shipped.\(form.rawValue)").path
    try await form.write(source, to: path)
    return try Seeds.open(path: path)
  }

  @Test(
    "answers without a network; then two of ten that changed are fetched whole",
    arguments: ExportForm.allCases)
  func offlineThenOnline(_ form: ExportForm) async throws {
    let (changed, whole, validated) = (["/3.txt", "/7.txt"], Seen<String>(), Counter())
    let isOnline = Mutex(false)
    let site = ScriptedUpstream { request in
      guard isOnline.withLock({ $0 }), let path = request.head.path else { return .failure(.unreachable) }
      let isChanged = changed.contains(path)
      let tag = isChanged ? "\"2\"" : "\"1\""
      if request["If-None-Match"] == tag {
        validated.increment()
        return .notModified(headers: ["ETag": tag])
      }
      whole.add(path)
      return ScriptedResponse(
        headers: ["ETag": tag, "Content-Type": "text/plain"], body: (isChanged ? "new " : "shipped ") + path)
    }
    let cache = try HTTPCache.open(HTTPCache.Configuration(seeds: [try await seed(form)]))
    let session = CachedURLSession(cache: cache, via: site)
    func texts() async throws -> [String] {
      var texts: [String] = []
      for path in paths {
        let url = try #require(URL(string: "https://example.com\(path)"))
        texts.append(String(decoding: try await session.data(from: url).0, as: UTF8.self))
      }
      return texts
    }
    #expect(try await texts() == paths.map { "shipped \($0)" })
    isOnline.withLock { $0 = true }
    #expect(try await texts() == paths.map { changed.contains($0) ? "new \($0)" : "shipped \($0)" })
    #expect(whole.all == changed && validated.value == 8)
    await cache.close()
  }

  @Test("a URLCache answers from seeds, too")
  func urlCache() async throws {
    let cache = HTTPURLCache(
      memoryCapacity: 1 << 20, diskCapacity: 0, seeds: [try await seed(.archive)])
    let url = try #require(URL(string: "https://example.com/1.txt"))
    let stored = try #require(cache.cachedResponse(for: URLRequest(url: url)))
    #expect(stored.data == Data("shipped /1.txt".utf8))
  }
}

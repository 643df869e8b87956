import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("The list of downloads on disk", .timeLimit(.minutes(10)))
struct DownloadListTests {
  @Test("each download is back in its last state, with its order and settings")
  func states() async throws {
    let test = try TestQueue(count: 10, onDisk: true) { $0.totalLimit = 1 }
    let done = try test.add("/done", to: "done")
    _ = try await test.end(done)
    test.origin.change {
      $0.answers = [ScriptedResponse(status: 404, headers: ["Cache-Control": "no-store"])]
    }
    let failed = try test.add("/failed")
    _ = try await test.end(failed)
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let running = try test.add("/running", to: "running")
    await gate.waitForArrivals(1)
    var download = try test.download("/waiting", to: "waiting")
    download.priority = 3
    download.group = "films"
    download.replacesExisting = true
    download.digests = [IntegrityDigest(algorithm: .sha512, value: [1, 2])]
    download.request.headerFields[.accept] = "video/*"
    download.request.headerFields[.cookie] = "secret=1"
    #if Crypto
      let waiting = try test.queue.add(download)
    #else
      download.digests = []
      let waiting = try test.queue.add(download)
    #endif
    let paused = try test.add("/paused")
    test.queue.pause(paused)
    let cancelled = try test.add("/cancelled")
    test.queue.cancel(cancelled)
    let removed = try test.add("/removed")
    test.queue.remove(removed)
    let before = test.queue.downloads
    await test.queue.close()
    let bytes = try Data(contentsOf: test.list)
    #expect(bytes.range(of: Data("secret".utf8)) == nil)

    test.origin.change { $0.gate = Gate() }
    let queue = try test.reopen() { $0.totalLimit = 1 }
    #expect(queue.openingNotes.isEmpty)
    #expect(queue.downloads.map(\.id) == before.map(\.id))
    #expect(queue.status(of: done)?.state == .done(.fetched))
    #expect(queue.status(of: failed)?.state == .failed(DownloadFailure(.gone, "404")))
    #expect(queue.status(of: paused)?.state == .paused)
    #expect(queue.status(of: cancelled)?.state == .cancelled)
    #expect(queue.status(of: removed) == nil)
    #expect(queue.status(of: running)?.state.isEnded == false)
    download.request.headerFields[.cookie] = nil
    #expect(queue.status(of: waiting)?.download == download)
    await queue.close()
  }

  @Test("a running download goes on with Range and If-Range after the process ended", arguments: [1, 2, 3])
  func continues(times: Int) async throws {
    let test = try TestQueue(count: 900_000, onDisk: true)
    var queue = test.queue
    var id: DownloadID?
    for index in 0..<times {
      let gate = Gate()
      let start = index * 200_000
      test.origin.change { state in
        var head = HTTPResponse(
          status: index == 0 ? .ok : .partialContent,
          headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60"])
        if index > 0 { head.headerFields[.contentRange] = "bytes \(start)-899999/900000" }
        state.answers = [
          ScriptedResponse(
            head: head, steps: [.bytes(BodyBytes(state.content[start..<start + 200_000])), .wait(gate)],
            announcedLength: Int64(900_000 - start))
        ]
      }
      if index == 0 { id = try test.add("/file", to: "file") } else { queue = try test.reopen() }
      await gate.waitForArrivals(1)
      await queue.close()
    }
    let last = try test.reopen()
    #expect(try await test.end(try #require(id), in: last) == .done(.fetched))
    #expect(test.upstream.requests.last?["Range"] == "bytes=\(times * 200_000)-")
    #expect(test.upstream.requests.last?["If-Range"] == "\"a\"")
    let isSame = test.contents("file") == test.origin.content
    #expect(isSame)
    await last.close()
  }

  @Test("a file that changed while no process ran begins again, and the status says so")
  func changedMeanwhile() async throws {
    let (test, id) = try await TestQueue.brokenOff()
    await test.queue.close()
    test.origin.change {
      $0.content = FileOrigin.bytes(300_000, seed: 1)
      $0.fields[.eTag] = "\"b\""
    }
    let queue = try test.reopen()
    #expect(queue.status(of: id)?.state.isRetry == true)
    #expect(try await test.end(id, in: queue) == .done(.fetched))
    #expect(queue.status(of: id)?.lastRestart == .changed)
    #expect(test.contents("file") == test.origin.content)
    await queue.close()
  }

  @Test("without startsSaved a download of the list starts when it is added again or resumed")
  func held() async throws {
    let test = try TestQueue(count: 10, onDisk: true) { $0.totalLimit = 0 }
    let ids = try ["/a", "/b", "/c"].map { try test.add($0) }
    await test.queue.close()
    let queue = try test.reopen { $0.startsSaved = false }
    #expect(queue.summary.held == 3 && queue.summary.waiting == 0 && queue.summary.count == 3)
    #expect(try queue.add(test.download("/a")) == ids[0])
    queue.resume(ids[1])
    for id in ids.prefix(2) { #expect(try await test.end(id, in: queue) == .done(.fetched)) }
    #expect(queue.status(of: ids[2])?.state == .waiting(.slot) && queue.summary.held == 1)
    #expect(test.upstream.requests.count == 2)
    await queue.close()
    let last = try test.reopen()
    #expect(try await test.end(ids[2], in: last) == .done(.fetched))
    await last.close()
  }

  @Test("a held download that waits for a retry keeps the reason, and starts at once when it is added again")
  func heldRetry() async throws {
    let (test, id) = try await TestQueue.brokenOff()
    await test.queue.close()
    let queue = try test.reopen { $0.startsSaved = false }
    #expect(queue.status(of: id)?.state.isRetry == true)
    #expect(try queue.add(test.download("/file", to: "file")) == id)
    await test.wait(id, in: queue) { $0.isEnded }
    #expect(queue.status(of: id)?.state == .done(.fetched))
    await queue.close()
  }

  @Test("a list that is read tells a download that a process runs from one that waits")
  func savedWhileRunning() async throws {
    let test = try TestQueue(count: 10, onDisk: true) { $0.totalLimit = 1 }
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let id = try test.add("/running")
    try test.add("/waiting")
    await gate.waitForArrivals(1)
    await test.wait(id) { $0 == .receiving }
    let states = { try DownloadQueue.saved("test", in: test.cache).map(\.state) }
    #expect(try states() == [.receiving, .waiting(.slot)])
    await test.queue.close()
    #expect(try states() == [.waiting(.slot), .waiting(.slot)])
    // An interrupted download that is held does not run.
    let queue = try test.reopen { ($0.startsSaved, $0.totalLimit) = (false, 0) }
    try queue.add(test.download("/other"))
    #expect(try states() == [.waiting(.slot), .waiting(.slot), .waiting(.slot)])
    await queue.close()
  }

  @Test("a list as a killed process leaves it has its running downloads")
  func killed() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let id = try test.add("/running")
    await gate.waitForArrivals(1)
    await test.wait(id) { $0 == .receiving }
    // The file at this moment is what `kill -9` would leave.
    let left = test.list.deletingLastPathComponent().appendingPathComponent("killed.list")
    try FileManager.default.copyItem(at: test.list, to: left)
    let queue = try test.reopen(name: "killed")
    #expect(queue.openingNotes.isEmpty)
    #expect(queue.status(of: id)?.state.isEnded == false)
    #expect(queue.status(of: id)?.expected == 10)
    gate.open()
    #expect(try await test.end(id, in: queue).failure == nil)
    await queue.close()
  }

  @Test("a clock that was set back does not make a retry wait for years")
  func clockSetBack() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    test.origin.change { $0.answers = [.failure(.unreachable)] }
    let id = try test.add()
    _ = await test.wait(id) { $0.isRetry }
    await test.queue.close()
    test.clock.jump(to: Timestamp(seconds: 1_000))
    let queue = try test.reopen()
    await test.clock.waitForSleepers()
    test.clock.advance(by: 3_600)
    #expect(await test.wait(id, in: queue) { $0.isEnded }?.state == .done(.fetched))
    await queue.close()
  }

  @Test("the second queue of a name is told, and takes nothing from the first")
  func twice() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    let error = #expect(throws: DownloadError.self) { try test.reopen() }
    #expect(error?.code == .inUse)
    let other = try test.reopen(name: "other")
    #expect(other.downloads.isEmpty)
    await other.close()
    try test.add("/second")
    await test.queue.close()
    let queue = try test.reopen()
    #expect(queue.downloads.count == 2)
    #expect(throws: DownloadError.self) { try test.add("/third") }
    await queue.close()
  }

  @Test(
    "names that are no file names are refused",
    arguments: ["", ".", "..", "a/b", ".a", "ä", String(repeating: "a", count: 65)])
  func names(name: String) throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let error = #expect(throws: DownloadError.self) { try test.reopen(name: name) }
    #expect(error?.code == .invalidName)
  }

  @Test("of a list with a flipped or missing byte everything else is kept, and the damage is told")
  func damage() async throws {
    let test = try TestQueue(count: 10, onDisk: true) { $0.totalLimit = 1 }
    test.origin.change { $0.gate = Gate() }
    var ids: [DownloadID] = []
    for index in 0..<5 {
      ids.append(try test.add("/\(index)"))
      test.queue.pause(ids[index])
    }
    await test.queue.close()
    // Written once, in one piece.
    await (try test.reopen()).close()
    let whole = try Data(contentsOf: test.list)
    for position in stride(from: 0, to: whole.count, by: 7) {
      var flipped = whole
      flipped[position] ^= 0x55
      for bytes in [flipped, whole.prefix(position), whole[..<position] + whole[(position + 1)...]] {
        try bytes.write(to: test.list)
        let queue = try test.reopen()
        let kept = queue.downloads.map(\.id)
        if bytes.count >= whole.count - 1 { #expect(kept.count >= 4, "\(position)") }
        #expect(Set(kept).isSubset(of: Set(ids)))
        #expect(
          queue.openingNotes.isEmpty == (kept.count == 5) || bytes.count < whole.count - 1, "\(position)")
        await queue.close()
      }
    }
    let aside = test.list.path + ".damaged"
    #expect(FileManager.default.fileExists(atPath: aside))
  }

  @Test("a record with more fields than a head has is damage, and none is written")
  func fields() throws {
    var download = try Download("https://example.com/a")
    let names = try (0...HTTPFields.countLimit).map { try #require(HTTPField.Name("a\($0)")) }
    download.request.headerFields = HTTPFields(names.map { HTTPField(name: $0, value: "") })
    #expect(
      DownloadRecord.encode(DownloadItem(id: DownloadID(rawValue: 7), download: download, position: 1)) == nil
    )
    var writer = BinaryWriter()
    writer.byte(1)
    for _ in 0..<8 { writer.byte(0) }
    writer.signed(1)
    writer.text("https://example.com/a")
    writer.count(65_536)
    for _ in 0..<65_536 {
      writer.text("x")
      writer.text("y")
    }
    let error = #expect(throws: CacheError.self) { try DownloadRecord.decode(writer.output) }
    #expect(error?.message.contains("too many fields") == true)
  }

  @Test("hostile bytes make no download and no trap")
  func hostile() throws {
    let test = try TestQueue(count: 10, onDisk: true)
    var random = SystemRandomNumberGenerator()
    let item = DownloadItem(
      id: DownloadID(rawValue: 7), download: try test.download("/file", to: "file"), position: 1)
    let plain = try #require(DownloadRecord.encode(item))
    #expect(try DownloadRecord.decode(plain) == item)
    for _ in 0..<3_000 {
      var bytes = plain
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
      }
      // Whatever is decoded can be written and read again.
      if let decoded = try? DownloadRecord.decode(bytes) {
        let again = try #require(DownloadRecord.encode(decoded))
        #expect(try DownloadRecord.decode(again) == decoded)
      }
    }
    for count in 0..<plain.count {
      #expect(throws: CacheError.self) {
        try DownloadRecord.decode(Array(plain.prefix(count)))
      }
    }
  }

  @Test("opening 10,000 downloads, with all of them waiting, starts only as many as the limit allows")
  func many() async throws {
    let test = try TestQueue(count: 10, onDisk: true) { $0.totalLimit = 1 }
    test.origin.change { $0.gate = Gate() }
    for index in 0..<10_000 { try test.add("/\(index)") }
    await test.queue.close()
    let queue = try test.reopen()
    #expect(queue.summary.count == 10_000)
    #expect(queue.summary.running == 2)
    await queue.close()
  }
}

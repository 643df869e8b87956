import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

@Suite("The file at the destination", .timeLimit(.minutes(10)))
struct DownloadDestinationTests {
  private static let modified = Timestamp(seconds: 1_600_000_000)

  private func test(_ count: Int = 100_000, onDisk: Bool = true) throws -> TestQueue {
    let test = try TestQueue(count: count, onDisk: onDisk)
    test.origin.change { $0.fields[.lastModified] = Self.modified.httpDate }
    return test
  }

  private func facts(_ path: String) throws -> (mode: mode_t, modified: Int64, inode: UInt64) {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return (status.st_mode, Int64(status.st_mtim.tv_sec), UInt64(status.st_ino))
  }

  @Test(
    "it has the bytes, the representation's modification time and a new file's mode",
    arguments: [true, false])
  func file(onDisk: Bool) async throws {
    let test = try test(onDisk: onDisk)
    let id = try test.add("/file", to: "file")
    try await test.expectFetched(id)
    let facts = try facts(test.path("file"))
    #expect(facts.modified == Self.modified.seconds)
    #expect(FileManager.default.createFile(atPath: test.path("other"), contents: nil))
    #expect(facts.mode == (try self.facts(test.path("other")).mode))
    #expect(try test.partFiles().isEmpty)
  }

  @Test(
    "a response that must be validated before each use is asked for once",
    arguments: ["no-cache", "max-age=0, must-revalidate"])
  func askedOnce(directives: String) async throws {
    let test = try TestQueue(onDisk: true)
    test.origin.change { $0.fields[.cacheControl] = directives }
    let first = try test.add(to: "film")
    try await test.expectFetched(first, as: "film")
    let second = try test.add("/second")
    #expect(try await test.end(second) == .done(.fetched))
    #expect(test.upstream.requestCount == 2)
    await test.queue.close()
  }

  @Test("a change of the file never changes the entry")
  func independent() async throws {
    let test = try test()
    _ = try await test.end(try test.add("/file", to: "file"))
    let handle = try #require(FileHandle(forWritingAtPath: test.path("file")))
    try handle.write(contentsOf: Data(repeating: 0, count: 100_000))
    try handle.close()
    _ = try await test.end(try test.add("/file", to: "again"))
    #expect(test.contents("again") == test.origin.content)
  }

  @Test("a response that the cache does not store goes to the destination as it arrives")
  func notStored() async throws {
    let test = try test()
    test.origin.change {
      $0.fields[.cacheControl] = "no-store"
      $0.cuts = [70_000]
    }
    let id = try test.add("/file", to: "file")
    try await test.retry(id)
    try await test.expectFetched(id)
    #expect(test.queue.status(of: id)?.restarts == 0)
    #expect(test.origin.sent == 100_000)
    #expect(try test.partFiles().isEmpty)
    let without = try test.add("/file")
    #expect(try await test.end(without).failure == .notStored)
  }

  @Test("a body that the cache refuses for its digest is not put at the destination either")
  func statedDigest() async throws {
    let test = try TestQueue(count: 100_000)
    test.origin.change { $0.fields[HTTPField.Name("Repr-Digest") ?? .age] = "sha-256=:AAAA:" }
    let id = try test.add("/file", to: "file")
    #expect(try await test.end(id).failure == .wrongDigest)
    #expect(test.upstream.requestCount == 1)
    #expect(test.contents("file") == nil)
    #expect(try test.partFiles().isEmpty)
  }

  @Test("the queue's own file is validated by its ETag, and fetched again only if it changed")
  func validated() async throws {
    let test = try test()
    let id = try test.add("/file", to: "file")
    _ = try await test.end(id)
    _ = try await test.cache.store.remove(.all)
    test.clock.advance(by: 1_000)
    let before = try facts(test.path("file")).inode
    try test.add("/file", to: "file")
    #expect(try await test.end(id) == .done(.destination))
    #expect(test.upstream.requests.last?["If-None-Match"] == "\"a\"")
    #expect(test.origin.sent == 100_000)
    #expect(try facts(test.path("file")).inode == before)
    test.origin.change {
      $0.content = FileOrigin.bytes(50_000, seed: 9)
      $0.fields[.eTag] = "\"b\""
    }
    try test.add("/file", to: "file")
    try await test.expectFetched(id)
  }

  @Test("without an ETag, by Last-Modified")
  func validatedByDate() async throws {
    let test = try test()
    test.origin.change { $0.fields[.eTag] = nil }
    let id = try test.add("/file", to: "file")
    _ = try await test.end(id)
    _ = try await test.cache.store.remove(.all)
    try test.add("/file", to: "file")
    #expect(try await test.end(id) == .done(.destination))
    #expect(test.upstream.requests.last?["If-Modified-Since"] == Self.modified.httpDate)
  }

  @Test("a file that someone changed is not taken for the queue's own, and not replaced unasked")
  func changedByHand() async throws {
    let test = try test(10)
    let id = try test.add("/file", to: "file")
    _ = try await test.end(id)
    try Data([1]).write(to: URL(fileURLWithPath: test.path("file")))
    try test.add("/file", to: "file")
    #expect(try await test.end(id).failure == .destinationExists)
    #expect(test.contents("file") == [1])
    var download = try test.download("/file", to: "file")
    download.replacesExisting = true
    try test.queue.add(download)
    #expect(try await test.end(id).isEnded)
    #expect(test.contents("file") == test.origin.content)
  }

  @Test("folders, links and special files are left alone, and nothing is fetched for them")
  func occupied() async throws {
    let test = try test(10)
    try FileManager.default.createDirectory(
      atPath: test.path("folder"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: test.path("link"), withDestinationPath: test.path("nothing"))
    try #require(mkfifo(test.path("pipe"), 0o600) == 0)
    try Data([1]).write(to: URL(fileURLWithPath: test.path("file")))
    for (name, kind) in [
      ("folder", .destinationIsFolder), ("link", .destinationIsLink), ("pipe", .destinationIsLink),
      ("file", .destinationExists), ("none/file", .noFolder), ("file/file", .noFolder),
    ] as [(String, DownloadFailure.Kind)] {
      var download = try test.download("/\(name)", to: name)
      download.replacesExisting = kind != .destinationExists
      let id = try test.queue.add(download)
      #expect(try await test.end(id).failure == kind, "\(name)")
    }
    #expect(test.upstream.requestCount == 0)
    #expect(test.contents("file") == [1])
  }

  @Test("a write-protected file is not replaced")
  func writeProtected() async throws {
    let test = try test(10)
    try Data([1]).write(to: URL(fileURLWithPath: test.path("file")))
    try #require(chmod(test.path("file"), 0o444) == 0)
    var download = try test.download("/file", to: "file")
    download.replacesExisting = true
    #expect(try await test.end(try test.queue.add(download)).failure == .readOnly)
    #expect(test.contents("file") == [1])
  }

  @Test(
    "each error of the system has its kind",
    arguments: [
      (ENOSPC, .fullDisk), (EDQUOT, .fullDisk), (EACCES, .readOnly), (EROFS, .readOnly), (EPERM, .readOnly),
      (ENOENT, .noFolder), (EIO, .io),
    ] as [(Int32, DownloadFailure.Kind)])
  func errors(code: Int32, kind: DownloadFailure.Kind) {
    #expect(DownloadFailure(systemError: code, "test").kind == kind)
  }

  @Test("a file that appears during the transfer stays, and the entry is kept", arguments: [false, true])
  func appears(replacesExisting: Bool) async throws {
    let test = try test(10)
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    var download = try test.download("/file", to: "file")
    download.replacesExisting = replacesExisting
    let id = try test.queue.add(download)
    await gate.waitForArrivals(1)
    try Data([1]).write(to: URL(fileURLWithPath: test.path("file")))
    gate.open()
    let state = try await test.end(id)
    #expect(state == (replacesExisting ? .done(.fetched) : state))
    #expect(replacesExisting || state.failure == .destinationExists)
    #expect(test.contents("file") == (replacesExisting ? test.origin.content : [1]))
    #expect(try await test.cache.file(for: download.request) != nil)
    #expect(try test.partFiles().isEmpty)
  }

  #if os(Linux)
    @Test("a destination on another volume is copied")
    func otherVolume() async throws {
      let test = try test()
      let folder = "/dev/shm/http-cache-downloads-\(UUID())"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let id = try test.queue.add(Download("https://example.com/file", to: folder + "/file"))
      #expect(try await test.end(id) == .done(.fetched))
      #expect(
        FileManager.default.contents(atPath: folder + "/file").map { Array($0) } == test.origin.content)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
    }
  #endif

  @Test("too little free space fails before the body, and resumes when there is more")
  func fullBefore() async throws {
    let free = SharedNumber(150_000)
    let test = try TestQueue(count: 100_000, onDisk: true) {
      $0.minimumFreeSpace = 100_000
      $0.freeSpace = { _ in free.value }
    }
    let id = try test.add("/file", to: "file")
    #expect(try await test.end(id).failure == .fullDisk)
    #expect(test.contents("file") == nil)
    free.value = 1 << 30
    test.queue.resume(id)
    #expect(try await test.end(id) == .done(.fetched))
  }

  @Test("space that goes during the transfer stops it, and what arrived is kept")
  func fullMeanwhile() async throws {
    let free = SharedNumber(1 << 40)
    let test = try TestQueue(count: 40_000_000, onDisk: true) {
      $0.freeSpace = { _ in free.value }
    }
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let id = try test.add("/file", to: "file")
    await gate.waitForArrivals(1)
    await test.wait(id) { $0 == .receiving }
    free.value = 0
    gate.open()
    #expect(try await test.end(id).failure == .fullDisk)
    free.value = 1 << 40
    test.queue.resume(id)
    #expect(try await test.end(id) == .done(.fetched))
    #expect(test.upstream.requests.last?["Range"] != nil)
    let isSame = test.contents("file") == test.origin.content
    #expect(isSame)
  }

  #if Crypto
    @Test("the expected digest decides, and wrong bytes leave the cache")
    func digests() async throws {
      let test = try test(3)
      test.origin.change { $0.content = Array("abc".utf8) }
      let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      var download = try test.download("/file", to: "file")
      let wrong = right.replacing("ba", with: "bb")
      download.digests = [try #require(.sha256(wrong))]
      let id = try test.queue.add(download)
      let message = "the bytes have sha-256=\(right); expected is sha-256=\(wrong)"
      #expect(try await test.end(id) == .failed(DownloadFailure(.wrongDigest, message)))
      #expect(test.contents("file") == nil)
      #expect(try await test.cache.file(for: download.request) == nil)
      download.digests = [try #require(.sha256(right.uppercased()))]
      try test.queue.add(download)
      #expect(try await test.end(id) == .done(.fetched))
      #expect(test.contents("file") == Array("abc".utf8))
    }
  #endif

  @Test("a digest is 64 hexadecimal digits")
  func digestText() {
    #expect(IntegrityDigest.sha256(String(repeating: "0f", count: 32))?.value.count == 32)
    for text in ["", "00", String(repeating: "0g", count: 32), String(repeating: "é", count: 32)] {
      #expect(IntegrityDigest.sha256(text) == nil)
    }
  }
}

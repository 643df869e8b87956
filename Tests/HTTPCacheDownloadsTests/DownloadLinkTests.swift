import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

#if os(Linux)
  @Suite("Destinations that are links to the entry", .timeLimit(.minutes(10)))
  struct DownloadLinkTests {
    private func add(_ test: TestQueue, to path: String) throws -> DownloadID {
      var download = try Download("https://example.com/file", to: path)
      download.linksEntry = true
      return try test.queue.add(download)
    }

    private func links(_ path: String) throws -> UInt64 {
      var status = stat()
      try #require(lstat(path, &status) == 0)
      return UInt64(status.st_nlink)
    }

    @Test("the file and the entry are one file, with the representation's time", arguments: [[], [70_000]])
    func linked(cuts: [Int]) async throws {
      let test = try TestQueue(onDisk: true)
      let modified = Timestamp(seconds: 1_600_000_000)
      test.origin.change {
        $0.fields[.lastModified] = modified.httpDate
        $0.cuts = cuts
      }
      let id = try add(test, to: test.path("file"))
      try await test.expectFetched(id)
      #expect(try links(test.path("file")) == 2)
      let attributes = try FileManager.default.attributesOfItem(atPath: test.path("file"))
      #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == Double(modified.seconds))
      #expect(test.origin.sent == test.origin.content.count)
      #expect(try test.partFiles().isEmpty)
      let copy = try test.add("/file", to: "copy")
      #expect(try await test.end(copy) == .done(.cache))
      #expect(try links(test.path("copy")) == 1)
      #expect(test.contents("copy") == test.origin.content)
    }

    @Test("after a change of the file, the response is fetched again")
    func damaged() async throws {
      let test = try TestQueue(onDisk: true)
      _ = try await test.end(try add(test, to: test.path("file")))
      let handle = try #require(FileHandle(forWritingAtPath: test.path("file")))
      try handle.write(contentsOf: Data(repeating: 0, count: 100))
      try handle.close()
      let id = try test.add("/file", to: "again")
      try await test.expectFetched(id, as: "again")
      #expect(test.upstream.requestCount == 2)
    }

    @Test("a file on another file system is a copy")
    func otherVolume() async throws {
      let test = try TestQueue(onDisk: true)
      let folder = "/dev/shm/http-cache-links-\(UUID())"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      #expect(try await test.end(try add(test, to: folder + "/file")) == .done(.fetched))
      #expect(try links(folder + "/file") == 1)
      #expect(
        FileManager.default.contents(atPath: folder + "/file").map { Array($0) } == test.origin.content)
    }

    #if Crypto
      @Test("the file of an encrypted entry is a copy in the clear")
      func encrypted() async throws {
        let test = try TestQueue(
          onDisk: true, encryption: .key(EncryptionKey.random()))
        #expect(try await test.end(try add(test, to: test.path("file"))) == .done(.fetched))
        #expect(try links(test.path("file")) == 1)
        #expect(test.contents("file") == test.origin.content)
      }
    #endif

    @Test("the list keeps the wish for a link")
    func saved() async throws {
      let test = try TestQueue(onDisk: true)
      test.queue.setLimits(total: 0)
      let id = try add(test, to: test.path("file"))
      await test.queue.close()
      let again = try test.reopen { $0.totalLimit = 0 }
      #expect(again.status(of: id)?.download.linksEntry == true)
      await again.close()
    }
  }
#endif

import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The file of the list of downloads", .timeLimit(.minutes(10)))
struct DownloadListFileTests {
  @Test("a list that is a link or a folder is not opened")
  func foreign() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    await test.queue.close()
    try FileManager.default.removeItem(at: test.list)
    try FileManager.default.createSymbolicLink(
      atPath: test.list.path, withDestinationPath: "/etc/passwd")
    #expect(throws: DownloadError.self) { try test.reopen() }
    try FileManager.default.removeItem(at: test.list)
    try FileManager.default.createDirectory(at: test.list, withIntermediateDirectories: false)
    #expect(throws: DownloadError.self) { try test.reopen() }
  }

  @Test("the list does not grow with the number of changes")
  func compacts() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    for priority in 0..<4_000 { test.queue.setPriority(priority, of: id) }
    let size = try FileManager.default.attributesOfItem(atPath: test.list.path)[.size] as? Int
    #expect(try #require(size) < 300_000)
    await test.queue.close()
    let queue = try test.reopen()
    #expect(queue.status(of: id)?.download.priority == 3_999)
    await queue.close()
  }

  @Test(
    "a list with one record of each download is not written anew when it is opened, and goes on in that file")
  func resumed() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    await test.queue.close()
    // Several records of the download: written anew.
    await (try test.reopen()).close()
    func inode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: test.list.path)[.systemFileNumber] as? Int
    }
    let before = try #require(try inode())
    let queue = try test.reopen()
    #expect(try inode() == before)
    queue.setPriority(7, of: id)
    #expect(try inode() == before)
    await queue.close()
    let last = try test.reopen()
    #expect(last.status(of: id)?.download.priority == 7)
    await last.close()
  }

  @Test("a list that cannot be written is told, and written when it can be")
  func unwritable() async throws {
    let test = try TestQueue(count: 10, onDisk: true)
    let id = try test.add()
    _ = try await test.end(id)
    #expect(test.queue.listError == nil)
    let folder = test.folder.url("cache/downloads")
    let away = test.folder.url("away")
    // Without its folder the file cannot be written anew when it has grown.
    try FileManager.default.moveItem(at: folder, to: away)
    for priority in 0..<4_000 { test.queue.setPriority(priority, of: id) }
    #expect(test.queue.listError != nil)
    try FileManager.default.moveItem(at: away, to: folder)
    test.queue.setPriority(5, of: id)
    #expect(test.queue.listError == nil)
    await test.queue.close()
    let queue = try test.reopen()
    #expect(queue.status(of: id)?.download.priority == 5)
    await queue.close()
  }

  #if Crypto
    @Test("an encrypted cache has an encrypted list; under another key it stays aside")
    func encrypted() async throws {
      let key = EncryptionKey.random()
      let test = try TestQueue(count: 10, onDisk: true, encryption: .key(key))
      let id = try test.add("/private-name")
      _ = try await test.end(id)
      await test.queue.close()
      let bytes = try Data(contentsOf: test.list)
      #expect(bytes.range(of: Data("private-name".utf8)) == nil)
      let queue = try test.reopen()
      #expect(queue.status(of: id)?.download.url == "https://example.com/private-name")
      await queue.close()
    }
  #endif
}

import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The file of the list of downloads", .timeLimit(.minutes(10)))
struct DownloadListFileTests {
  @Test("a list that is a link or a folder is not opened")
  func foreign() async throws {
    let kitchen = try DownloadKitchen(count: 10, onDisk: true)
    await kitchen.queue.close()
    try FileManager.default.removeItem(at: kitchen.list)
    try FileManager.default.createSymbolicLink(
      atPath: kitchen.list.path, withDestinationPath: "/etc/passwd")
    #expect(throws: DownloadError.self) { try kitchen.reopen() }
    try FileManager.default.removeItem(at: kitchen.list)
    try FileManager.default.createDirectory(at: kitchen.list, withIntermediateDirectories: false)
    #expect(throws: DownloadError.self) { try kitchen.reopen() }
  }

  @Test("the list does not grow with the number of changes")
  func compacts() async throws {
    let kitchen = try DownloadKitchen(count: 10, onDisk: true)
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    for priority in 0..<4_000 { kitchen.queue.setPriority(priority, of: id) }
    let size = try FileManager.default.attributesOfItem(atPath: kitchen.list.path)[.size] as? Int
    #expect(try #require(size) < 300_000)
    await kitchen.queue.close()
    let queue = try kitchen.reopen()
    #expect(queue.status(of: id)?.download.priority == 3_999)
    await queue.close()
  }

  @Test(
    "a list with one record of each download is not written anew when it is opened, and goes on in that file")
  func resumed() async throws {
    let kitchen = try DownloadKitchen(count: 10, onDisk: true)
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    await kitchen.queue.close()
    // Several records of the download: written anew.
    await (try kitchen.reopen()).close()
    func inode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: kitchen.list.path)[.systemFileNumber] as? Int
    }
    let before = try #require(try inode())
    let queue = try kitchen.reopen()
    #expect(try inode() == before)
    queue.setPriority(7, of: id)
    #expect(try inode() == before)
    await queue.close()
    let last = try kitchen.reopen()
    #expect(last.status(of: id)?.download.priority == 7)
    await last.close()
  }

  @Test("a list that cannot be written is told, and written when it can be")
  func unwritable() async throws {
    let kitchen = try DownloadKitchen(count: 10, onDisk: true)
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    #expect(kitchen.queue.listError == nil)
    let folder = kitchen.folder.appendingPathComponent("cache/downloads")
    let away = kitchen.folder.appendingPathComponent("away")
    // Without its folder the file cannot be written anew when it has grown.
    try FileManager.default.moveItem(at: folder, to: away)
    for priority in 0..<4_000 { kitchen.queue.setPriority(priority, of: id) }
    #expect(kitchen.queue.listError != nil)
    try FileManager.default.moveItem(at: away, to: folder)
    kitchen.queue.setPriority(5, of: id)
    #expect(kitchen.queue.listError == nil)
    await kitchen.queue.close()
    let queue = try kitchen.reopen()
    #expect(queue.status(of: id)?.download.priority == 5)
    await queue.close()
  }

  #if Crypto
    @Test("an encrypted cache has an encrypted list; under another key it stays aside")
    func encrypted() async throws {
      let key = EncryptionKey.random()
      let kitchen = try DownloadKitchen(count: 10, onDisk: true, encryption: .key(key))
      let id = try kitchen.add("/private-name")
      _ = try await kitchen.end(id)
      await kitchen.queue.close()
      let bytes = try Data(contentsOf: kitchen.list)
      #expect(bytes.range(of: Data("private-name".utf8)) == nil)
      let queue = try kitchen.reopen()
      #expect(queue.status(of: id)?.download.url == "https://example.com/private-name")
      await queue.close()
    }
  #endif
}

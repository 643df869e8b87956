import Foundation
import HTTPCacheFiles
import HTTPCaching
import Testing

@testable import HTTPCacheDownloads

/// The part beside a destination, which the queue, `get` and `CachedURLSession` share.
@Suite("Part files", .timeLimit(.minutes(10)))
final class PartFileTests: PartDestination {
  // MARK: Continuing

  @Test("bytes go on where they ended, and the file appears when it is complete")
  func continued() async throws {
    try await leave("begin")
    #expect(try names() == ["file.httpcache-part"])
    let part = try #require(PartFile(existingBeside: file))
    #expect(part.received == 5 && part.offset == 5 && part.record == part.record)
    #expect(part.record?.belongs(to: HTTPRequest.sample("http://a/x")) == true)
    try part.resume(at: 4)
    try await part.append(BodyBytes(Array("nings".utf8)))
    try part.place(at: file)
    #expect(text(file) == "beginings")
    #expect(try names() == ["file"])
  }

  @Test("a part without a record, or without bytes, leaves nothing")
  func withoutRecord() async throws {
    let part = try PartFile(beside: file)
    try part.begin(nil)
    try await part.append(BodyBytes([1]))
    part.close()
    #expect(try names().isEmpty)
    try PartFile(beside: file).begin(PartRecord.sample())
    #expect(try names().isEmpty)
    #expect(PartFile(existingBeside: file) == nil)
  }

  @Test("as long as the record cannot say that there is a gap, nothing is written beyond one")
  func unwritableRecord() async throws {
    try await leave("ab") { part in
      let new = "\(part.path)/record.new"
      try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
      for offset: Int64 in [6, 9] {
        await #expect(throws: DownloadFailure.self) { try await part.write(BodyBytes([1]), at: offset) }
      }
      #expect(part.kept == [0..<2])
    }
    let part = try #require(PartFile(existingBeside: file))
    #expect(part.kept == [0..<2])
  }

  private final class LinkingReader: BodyReader {
    var length: Int64? { 1 }
    func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes { BodyBytes([1]) }
    func clone(to path: String) async throws(CacheError) { symlink("/dev/null", path) }
  }

  @Test("a clone that cannot be opened is an error, not an empty file")
  func unopenableClone() async throws {
    let part = try PartFile(beside: file)
    try part.begin(nil)
    await #expect(throws: CacheError.self) { try await part.clone(LinkingReader()) }
  }

  @Test("of ranges, those that were written count, and the rest is missing")
  func ranges() async throws {
    try await leave("ab") { part in
      try await part.write(BodyBytes(Array("gh".utf8)), at: 6)
      #expect(part.kept == [0..<2, 6..<8])
    }
    let part = try #require(PartFile(existingBeside: file))
    #expect(part.kept == [0..<2, 6..<8] && part.received == 2)
    #expect(PartState.missing(part.kept, of: 9) == [2..<6, 8..<9])
    try part.resume(at: 2)
    #expect(part.kept == [0..<2])
  }

  @Test("after another start of the system, only bytes that were synced count")
  func reboot() throws {
    var state = PartState(inode: 1, isStream: false, written: [0..<50, 60..<70], synced: [0..<20])
    #expect(state.kept(size: 100, length: 100) == [0..<50, 60..<70])
    state.isStream = true
    #expect(state.kept(size: 90, length: nil) == [0..<90])
    state.boot = "another"
    #expect(state.kept(size: 100, length: 100) == [0..<20])
    state.boot = ""
    #expect(state.kept(size: 100, length: 100) == [0..<20], "an unknown run")
    #expect(state.kept(size: 10, length: 100).isEmpty, "cut off before what was synced")
    #expect(state.kept(size: 101, length: 100).isEmpty, "longer than the representation")
  }

  @Test("what was kept on purpose outlives the system")
  func synced() async throws {
    try await leave("begin") { await $0.keep() }
    let found = try #require(try stored())
    #expect(found.state.synced == [0..<5])
  }

  private func stored() throws -> (state: PartState, record: PartRecord)? {
    PartState.decoded(Array(try Data(contentsOf: URL(fileURLWithPath: part + "/record"))))
  }

  @Test("a record that is damaged, or of another file, is not used")
  func damaged() async throws {
    try await leave("begin")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: part + "/record"))
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(PartState.decoded(Array(changed)) == nil)
      #expect(PartState.decoded(Array(bytes.prefix(index))) == nil)
    }
    // Another body with the same name.
    #expect(rename(part + "/body", path("kept")) == 0)
    try write("other", to: part + "/body")
    #expect(PartFile(existingBeside: file)?.record == nil)
  }

  @Test("the record has no URL")
  func secrets() async throws {
    let url = "http://a/x?token=secret"
    let part = try PartFile(beside: file)
    try part.begin(PartRecord.sample(url: url))
    try await part.append(BodyBytes([1]))
    let record = try Data(contentsOf: URL(fileURLWithPath: self.part + "/record"))
    #expect(record.range(of: Data("token".utf8)) == nil && record.range(of: Data("\"1\"".utf8)) != nil)
  }

  // MARK: Other processes and users

  @Test("the folder of a running process is left alone, and that of a killed process is removed")
  func locks() async throws {
    let held = try PartFile(beside: file)
    try held.begin(nil)
    let second = try PartFile(beside: file)
    #expect(second.path == part + "-2")
    #expect(PartFile(existingBeside: file) == nil)
    second.close()
    #expect(mkdir(part + "-3", 0o700) == 0)
    let third = try PartFile(beside: file)
    try third.begin(nil)
    try third.place(at: file)
    #expect(try names() == ["file", "file.httpcache-part"])
    held.close()
    #expect(try names() == ["file"])
  }

  @Test(
    "a link in place of the folder or of its files is never followed", arguments: ["", "/body", "/record"])
  func links(name: String) async throws {
    try await leave("begin")
    try write("precious", to: path("precious"))
    try FileManager.default.removeItem(atPath: part + name)
    #expect(symlink(path("precious"), part + name) == 0)
    let part = try PartFile(beside: file)
    #expect(part.record == nil)
    try part.begin(PartRecord.sample())
    try await part.append(BodyBytes(Array("whole".utf8)))
    try part.place(at: file)
    #expect(text(path("precious")) == "precious" && text(file) == "whole")
  }

  @Test("another name of a file in the place of the body is left alone")
  func hardLink() async throws {
    try await leave("begin")
    try write("precious", to: path("precious"))
    #expect(unlink(part + "/body") == 0 && link(path("precious"), part + "/body") == 0)
    let part = try PartFile(beside: file)
    try part.begin(nil)
    try await part.append(BodyBytes(Array("whole".utf8)))
    #expect(text(path("precious")) == "precious")
  }

  @Test("a folder that others may write to is not continued", arguments: [mode_t(0o777), 0o720])
  func openFolder(mode: mode_t) async throws {
    try await leave("begin")
    #expect(chmod(part, mode) == 0)
    #expect(PartFile(existingBeside: file)?.record == nil)
  }

  @Test("a folder of another user is neither used nor touched", .enabled(if: geteuid() == 0))
  func foreignFolder() async throws {
    try await leave("begin")
    #expect(chown(part, 1234, 1234) == 0)
    #expect(PartFile(existingBeside: file) == nil)
    #expect(try PartFile(beside: file).path == part + "-2")
    #expect(text(part + "/body") == "begin")
  }

  @Test("the folder of a file with the longest possible name has a short name")
  func longName() {
    let name = String(repeating: "n", count: 255)
    #expect(PartFolder.path(beside: "a/" + name).utf8.count < 50)
    #expect(PartFolder.path(beside: "a/b", 2) == "a/b.httpcache-part-2")
  }

  // MARK: The destination

  @Test("a destination that appears at the last moment is not overwritten")
  func lastMoment() async throws {
    let part = try PartFile(beside: file)
    try part.begin(nil)
    try write("other", to: file)
    let failure = #expect(throws: DownloadFailure.self) { try part.place(at: file, mustBeNew: true) }
    #expect(failure?.kind == .destinationExists)
    #expect(text(file) == "other")
  }

  @Test("a file that is replaced keeps its mode; with other names it is written in place if that is allowed")
  func replaced() async throws {
    for (mayCopy, isShared) in [(true, false), (false, true), (true, true)] {
      try write("an old and longer body", to: file)
      #expect(chmod(file, 0o640) == 0)
      if isShared { #expect(link(file, path("name")) == 0) }
      let part = try PartFile(beside: file)
      try part.begin(nil)
      try await part.append(BodyBytes(Array("new".utf8)))
      try part.place(at: file, mayCopy: mayCopy)
      #expect(text(file) == "new")
      var status = stat()
      #expect(lstat(file, &status) == 0 && status.st_mode & 0o777 == 0o640)
      #expect(text(path("name")) == (isShared ? (mayCopy ? "new" : "an old and longer body") : nil))
      unlink(path("name"))
    }
  }

  @Test("bytes stay while the same representation comes again from its start, and no others do")
  func repeated() async throws {
    for (record, request, isKept) in [
      (PartRecord.sample(), "http://a/x", true), (PartRecord.sample([.eTag: "\"2\""]), "http://a/x", false),
      (PartRecord.sample(length: 8), "http://a/x", false),
      (PartRecord.sample(length: nil), "http://a/x", false),
      (PartRecord.sample(url: "http://a/y"), "http://a/y", false), (nil, "http://a/x", false),
      (PartRecord.sample([.lastModified: "Tue, 15 Nov 1994 08:12:31 GMT"]), "http://a/x", false),
    ] {
      try await leave("begin")
      let part = try PartFile(beside: file)
      try part.begin(record, for: HTTPRequest.sample(request))
      #expect(part.received == (isKept ? 5 : 0))
      try await part.append(BodyBytes(Array("beg".utf8)))
      #expect(part.received == (isKept ? 5 : 3))
      try await part.append(BodyBytes(Array("in her".utf8)))
      #expect(text(part.path + "/body") == "begin her")
      part.discard()
    }
  }

  #if Crypto
    @Test("the bytes are compared with the digest that their response stated")
    func digest() async throws {
      let name = try #require(HTTPField.Name("Repr-Digest"))
      let digest = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
      for (text, isRight) in [("abc", true), ("abd", false)] {
        let part = try PartFile(beside: file)
        try part.begin(PartRecord.sample([.eTag: "\"1\"", name: digest], length: 3))
        try await part.append(BodyBytes(Array(text.utf8)))
        #expect(try await part.mismatch() == (isRight ? nil : .sha256))
        part.discard()
      }
    }
  #endif
}

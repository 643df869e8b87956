import ArgumentParser
import Foundation
import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("What serve notes in its directory", .timeLimit(.minutes(10))) struct ServeRecordTests {
  /// A directory with a file where a cache has its index.
  private static func directory() throws -> ScratchFolder {
    let directory = try ScratchFolder()
    try directory.write("".utf8, to: "Cache.db")
    return directory
  }

  /// The note of a server that listens on a port.
  private static func note(_ port: Int, in directory: ScratchFolder) throws -> ServeNote {
    ServeNote(try record(port), in: directory.path) { Issue.record("\($0)") }
  }

  private static func record(_ port: Int) throws -> ServeRecord {
    ServeRecord(try ServeCommand.parse(["--forward"]), nil, port: port)
  }

  /// The ports of the servers that other commands find.
  private static func ports(in directory: ScratchFolder) -> [String] {
    FoundServeNote.current(in: directory.path).compactMap { note in
      note.record?.listen.split(separator: ":").last.map(String.init)
    }
  }

  private static func notes(in directory: ScratchFolder) -> [String] {
    directory.names.filter { $0 != "Cache.db" }
  }

  /// Makes a note look as if its server had written it long ago.
  private static func age(_ name: String, in directory: ScratchFolder) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: directory.path(name))
  }

  @Test("the file is for its owner alone, replaces the server's earlier one, and nothing else stays")
  func owner() throws {
    let directory = try Self.directory()
    let note = try Self.note(1, in: directory)
    note.write(try Self.record(2))
    let name = try #require(Self.notes(in: directory).first)
    var status = stat()
    #expect(stat(directory.path(name), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(Self.ports(in: directory) == ["2"])
    #expect(Self.notes(in: directory) == [name])
  }

  @Test("each server has a note of its own")
  func several() throws {
    let directory = try Self.directory()
    let notes = [try Self.note(1, in: directory), try Self.note(2, in: directory)]
    #expect(Self.ports(in: directory).sorted() == ["1", "2"])
    withExtendedLifetime(notes) {}
  }

  @Test("the note of a server that runs comes before one that an ended server left later")
  func left() throws {
    let directory = try Self.directory()
    let running = try Self.note(1, in: directory)
    try Self.age(try #require(Self.notes(in: directory).first), in: directory)
    try Self.note(2, in: directory).end()
    #expect(Self.ports(in: directory) == ["1"])
    withExtendedLifetime(running) {}
  }

  @Test("if no server runs, the note counts that was written last", arguments: [1, 2])
  func lastLeft(_ old: Int) throws {
    let directory = try Self.directory()
    // Killed, servers leave their notes without a lock.
    for port in [1, 2] {
      try directory.write(Console.json(try Self.record(port)).utf8, to: "Cache.serve-\(port)")
    }
    try Self.age("Cache.serve-\(old)", in: directory)
    #expect(Self.ports(in: directory) == [old == 1 ? "2" : "1"])
  }

  @Test("a server that starts or ends removes the notes of ended servers, and no other")
  func removal() throws {
    let directory = try Self.directory()
    let running = try Self.note(1, in: directory)
    try Self.note(2, in: directory).end()
    #expect(Self.notes(in: directory).count == 2)
    let next = try Self.note(3, in: directory)
    #expect(Self.notes(in: directory).count == 2)
    #expect(Self.ports(in: directory).sorted() == ["1", "3"])
    next.end()
    running.end()
    #expect(Self.notes(in: directory).count == 1)
    #expect(Self.ports(in: directory) == ["1"])
  }

  @Test("a file that a killed server did not rename is removed, and not one that a server is writing")
  func parts() throws {
    let directory = try Self.directory()
    for name in ["Cache.serve-1.a.part", "Cache.serve-2.b.part", "Cache.serve-x.c.part"] {
      try directory.write("".utf8, to: name)
    }
    let file = try #require(FileHandle(forWritingAtPath: directory.path("Cache.serve-2.b.part")))
    #expect(flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
    let note = try Self.note(3, in: directory)
    let parts = Self.notes(in: directory).filter { $0.hasSuffix(".part") }
    #expect(parts == ["Cache.serve-2.b.part", "Cache.serve-x.c.part"])
    withExtendedLifetime((file, note)) {}
  }

  @Test("no note is written without a cache, nor after the end of the server")
  func unwritten() throws {
    let directory = try ScratchFolder()
    let note = try Self.note(1, in: directory)
    #expect(directory.names.isEmpty)
    try directory.write("".utf8, to: "Cache.db")
    note.end()
    note.renew()
    note.write(try Self.record(2))
    #expect(directory.names == ["Cache.db"])
  }

  @Test("a server looks every ten seconds whether its note is there, and writes it again")
  func renewed() async throws {
    let directory = try Self.directory()
    let clock = ManualClock(now: Timestamp(seconds: 1_000_000_000))
    let cache = try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 1 << 20, clock: clock))
    let note = try Self.note(1, in: directory)
    let name = try #require(Self.notes(in: directory).first)
    try await withAdminRoutes { routes in
      let server = routes.server
      let keeping = Task { try await ServeCommand.keep(cache, server: server, note: note) }
      await clock.waitForSleepers()
      directory.remove(name)
      clock.advance(by: .seconds(9))
      #expect(Self.notes(in: directory).isEmpty)
      clock.advance(by: .seconds(1))
      await clock.waitForSleepers()
      #expect(Self.ports(in: directory) == ["1"])
      keeping.cancel()
      _ = await keeping.result
    }
  }

  @Test("explain of a URL that no route of the server serves tells that its client gets 404")
  func noRoute() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await CommandRun.success("config", "--dir", cache, "--capacity", "2M")
    let path = try directory.write(
      "routes:\n  - host: www.test\n    upstream: http://origin.test\n".utf8, to: "serve.yaml")
    let record = ServeRecord(try ServeCommand.parse(["--config", path]), try ServeFile(path))
    let note = ServeNote(record, in: cache) { Issue.record("\($0)") }
    let text = await CommandRun.success("explain", "http://other.test/a?b", "--dir", cache)
    #expect(text.output.contains("no route of the server has the host other.test and the path /a"))
    #expect(text.output.contains("What is done? refuse: the client gets 404 Not Found"), "\(text.output)")
    let json = await CommandRun.success("explain", "http://other.test/a", "--dir", cache, "--json")
    #expect(json.output.contains("\"action\":\"refuse\""), "\(json.output)")
    for url in ["http://www.test/a", "http://origin.test/a"] {
      let run = await CommandRun.success("explain", url, "--dir", cache)
      #expect(run.output.contains("What is done? forward"), "\(run.output)")
    }
    note.end()
    let ended = await CommandRun.success("explain", "http://other.test/a", "--dir", cache)
    #expect(ended.output.contains("What is done? forward"), "\(ended.output)")
  }

  @Test("a server that runs and whose configuration file, or note, cannot be read keeps its clients' URLs")
  func unreadable() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await CommandRun.success("config", "--dir", cache, "--capacity", "2M")
    let path = try directory.write("upstream: http://a.test\n".utf8, to: "serve.yaml")
    let other = ServeRecord(try ServeCommand.parse(["--upstream", "http://b.test"]), nil, port: 2)
    var record = ServeRecord(try ServeCommand.parse(["--config", path]), try ServeFile(path), port: 1)
    let notes = [other, record].map { ServeNote($0, in: cache) { Issue.record("\($0)") } }
    directory.remove("serve.yaml")
    let url = "http://127.0.0.1:1/x"
    for arguments in [["purge", url], ["purge", "--prefix", url], ["ls", url], ["explain", url]] {
      let run = await CommandRun.failure(.usage, arguments + ["--dir", cache])
      #expect(run.errors.contains("\(url) may be a URL of clients of the server at 127.0.0.1:1, "))
      #expect(run.errors.contains("because \(path) cannot be read; give the URL of the origin"))
    }
    await CommandRun.success("purge", "http://127.0.0.1:2/x", "--dir", cache)
    record.file?.path = String(repeating: "a", count: 64 << 10)
    notes[1].write(record)
    let run = await CommandRun.failure(.usage, "purge", url, "--dir", cache)
    #expect(run.errors.contains("\(url) may be a URL of clients of a server of the directory, "))
    withExtendedLifetime(notes) {}
  }

  @Test("a file that cannot be written leaves the old one, and tells why")
  func failure() throws {
    let directory = try ScratchFolder()
    let error = #expect(throws: OutputFailure.self) {
      try OwnerFile.replace(directory.path("none/file"), by: Data(), task: "cannot write it")
    }
    #expect(error?.description == "cannot write it: its folder does not exist")
    try directory.makeFolder("folder")
    #expect(throws: OutputFailure.self) {
      try OwnerFile.replace(directory.path("folder"), by: Data("new".utf8), task: "cannot write it")
    }
    #expect(directory.names == ["folder"])
  }
}

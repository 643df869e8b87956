import ArgumentParser
import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("What serve notes in its directory", .timeLimit(.minutes(10))) struct ServeRecordTests {
  @Test("the file is for its owner alone from the start, replaces an earlier one, and nothing else stays")
  func owner() throws {
    let directory = try ScratchFolder()
    let record = ServeRecord(try ServeCommand.parse(["--forward"]), nil)
    let path = try directory.write("old".utf8, to: "Cache.serve", mode: 0o644)
    try record.save(in: directory.path)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(ServeRecord.load(from: directory.path)?.isShared == record.isShared)
    #expect(directory.names == ["Cache.serve"])
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

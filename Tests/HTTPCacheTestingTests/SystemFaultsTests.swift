import Foundation
import HTTPCacheFaults
import HTTPCacheTesting
import Testing

@Suite("SystemFaults", .timeLimit(.minutes(10)), .enabled(if: SystemFaults.isAvailable))
struct SystemFaultsTests {
  /// Writes a file with the calls that are caught.
  private func write(_ path: String, _ text: String) -> Int32 {
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0 else { return errno }
    defer { close(file) }
    var bytes = Array(text.utf8)
    let count = pwrite(file, &bytes, bytes.count, 0)
    return count < 0 ? errno : Int32(-count)
  }

  @Test("the nth call fails with the error that was asked for, and no other")
  func fails() throws {
    let folder = try ScratchFolder()
    let faults = try SystemFaults(below: folder.path)
    faults.fail(.write, with: .noSpace, at: 2)
    #expect(write(faults.folder + "/a", "one") == -3)
    #expect(write(faults.folder + "/a", "two") == ENOSPC)
    #expect(write(faults.folder + "/a", "three") == -5)
    faults.fail(.open, with: .tooManyFiles, times: 2)
    #expect(write(faults.folder + "/a", "x") == EMFILE)
    #expect(write(faults.folder + "/b", "x") == EMFILE)
    #expect(write(faults.folder + "/b", "x") == -1)
    faults.fail(.all, with: .inputOutput, times: .max)
    #expect(write(faults.folder + "/b", "x") == EIO)
    faults.heal()
    #expect(write(faults.folder + "/b", "x") == -1)
  }

  @Test("what is short says so, what is torn fails after a part, and both leave that part")
  func parts() throws {
    let folder = try ScratchFolder()
    let faults = try SystemFaults(below: folder.path)
    faults.fail(.write, with: .short(bytes: 2))
    #expect(write(faults.folder + "/a", "abcd") == -2)
    #expect(try String(contentsOfFile: folder.path + "/a", encoding: .utf8) == "ab")
    faults.fail(.write, with: .torn(bytes: 3))
    #expect(write(faults.folder + "/b", "abcd") == EIO)
    #expect(try String(contentsOfFile: folder.path + "/b", encoding: .utf8) == "abc")
  }

  @Test("files elsewhere, and other suffixes, are left alone")
  func elsewhere() throws {
    let (folder, other) = (try ScratchFolder(), try ScratchFolder())
    let faults = try SystemFaults(below: folder.path)
    faults.fail(.all, onFilesEndingIn: "-wal", with: .inputOutput, times: .max)
    #expect(write(other.path + "/x-wal", "x") == -1)
    #expect(write(faults.folder + "/x", "x") == -1)
    #expect(write(faults.folder + "/x-wal", "x") == EIO)
  }

  @Test("a file that takes the number of a closed folder is left alone")
  func numberTakenOver() throws {
    let (folder, other) = (try ScratchFolder(), try ScratchFolder())
    let faults = try SystemFaults(below: folder.path)
    let file = open(other.path + "/x", O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    faults.fail(.write, with: .inputOutput, times: .max)
    var takenOver = 0
    for _ in 1...100 {
      let number = open(faults.folder, O_RDONLY | O_DIRECTORY)
      closedir(try #require(fdopendir(number)))
      let copy = fcntl(file, F_DUPFD, number)
      defer { close(copy) }
      if copy == number { takenOver += 1 }
      var byte: UInt8 = 0
      #expect(Foundation.write(copy, &byte, 1) == 1)
    }
    #expect(takenOver > 0)
  }

  @Test("what is changed is recorded, with its bytes, in order")
  func recorded() throws {
    let folder = try ScratchFolder()
    let faults = try SystemFaults(below: folder.path, recordsChanges: true)
    #expect(mkdir(faults.folder + "/f", 0o700) == 0)
    _ = write(faults.folder + "/f/a", "abc")
    #expect(rename(faults.folder + "/f/a", faults.folder + "/f/b") == 0)
    #expect(unlink(faults.folder + "/f/b") == 0)
    #expect(
      faults.changes == [
        .folderMade(path: "f"), .created(path: "f/a", file: 1),
        .written(file: 1, offset: 0, bytes: Array("abc".utf8)), .renamed(from: "f/a", to: "f/b"),
        .unlinked(path: "f/b"),
      ])
  }
}

@Suite("PowerLoss", .timeLimit(.minutes(10))) struct PowerLossTests {
  private let changes: [SystemChange] = [
    .folderMade(path: "f"), .created(path: "f/a", file: 1),
    .written(file: 1, offset: 0, bytes: [UInt8](repeating: 1, count: 2_000)), .synced(file: 1),
    .folderSynced(path: "f"), .folderSynced(path: ""),
    .written(file: 1, offset: 0, bytes: [UInt8](repeating: 2, count: 2_000)),
    .created(path: "f/b", file: 2), .written(file: 2, offset: 0, bytes: [7]),
  ]

  /// The contents of two files after many losses.
  private func outcomes(after count: Int) throws -> [(a: [UInt8]?, b: [UInt8]?)] {
    let folder = try ScratchFolder()
    return try (0..<200).map { seed in
      let place = folder.path + "/\(seed)"
      try PowerLoss(changes: changes).makeFolder(place, after: count, seed: UInt64(seed))
      let (a, b) = (
        FileManager.default.contents(atPath: place + "/f/a"),
        FileManager.default.contents(atPath: place + "/f/b")
      )
      return (a.map { Array($0) }, b.map { Array($0) })
    }
  }

  @Test("what was synced with its name is there, whatever is lost")
  func synced() throws {
    for outcome in try outcomes(after: 6) {
      #expect(outcome.a == [UInt8](repeating: 1, count: 2_000))
      #expect(outcome.b == nil)
    }
  }

  @Test("what was not synced is there, or not, or torn")
  func lost() throws {
    let found = try outcomes(after: 9)
    let old = [UInt8](repeating: 1, count: 2_000)
    let new = [UInt8](repeating: 2, count: 2_000)
    #expect(found.contains { $0.a == old })
    #expect(found.contains { $0.a == new })
    #expect(found.contains { $0.a?.contains(1) == true && $0.a?.contains(2) == true })
    #expect(found.contains { $0.b == nil })
    #expect(found.contains { $0.b == [] })
    #expect(found.contains { $0.b == [7] })
    #expect(found.allSatisfy { $0.a?.count == 2_000 })
  }

  @Test("what had not happened yet is not there")
  func later() throws {
    for outcome in try outcomes(after: 2) { #expect(outcome.a == nil || outcome.a == []) }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ChildProcessTests {
  @Test(
    "a process that is killed may end by that signal or before it; a trap, an abort and an error are findings",
    arguments: [
      (ChildProcess.End.exited(0), true), (.killed(SIGKILL), true), (.exited(1), false),
      (.killed(SIGTRAP), false), (.killed(SIGABRT), false), (.unknown, false),
    ])
  func endings(end: ChildProcess.End, isExpected: Bool) { #expect(end.isExpectedOfKill == isExpected) }
}

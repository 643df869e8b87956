import Foundation
import Synchronization

/// The note of a running server in the directory of its cache: `Cache.serve-` and a number of its own.
///
/// The server keeps the file locked. The system ends the lock with the process, however the process ends, so that other
/// commands can tell the note from one that an ended server left.
final class ServeNote: Sendable {
  private struct State {
    var record: ServeRecord
    /// The locked file; nil before the note is written.
    var file: FileHandle?
    /// Whether the last attempt to write the note failed, and was reported.
    var isFailing = false
    var hasEnded = false
  }

  private static let prefix = "Cache.serve-"

  private let directory: String
  private let path: String
  private let report: @Sendable (String) -> Void
  private let state: Mutex<State>

  /// Writes the note.
  ///
  /// - Parameters:
  ///   - directory: the directory of the cache. No note is written while there is no cache in it.
  ///   - report: gets a message if the note cannot be written.
  init(_ record: ServeRecord, in directory: String, report: @escaping @Sendable (String) -> Void) {
    self.directory = directory
    path = "\(directory)/\(Self.prefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
    self.report = report
    state = Mutex(State(record: record))
    renew()
    FoundServeNote.removeEnded(in: directory)
  }

  deinit { state.withLock { Self.close(&$0.file) } }

  /// Whether a file is a note, by its name.
  ///
  /// - Parameter isPart: whether to ask for a file that is to become a note instead.
  static func isName(_ name: String, isPart: Bool) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(".part") == isPart else { return false }
    let number = name.dropFirst(prefix.count)
    return UInt64(isPart ? number.prefix { $0 != "." } : number, radix: 16) != nil
  }

  /// Replaces the note.
  func write(_ record: ServeRecord) {
    let message = state.withLock { state -> String? in
      state.record = record
      return save(&state)
    }
    if let message { report(message) }
  }

  /// Writes the note again if it is gone, as after the directory was removed and made again.
  func renew() {
    let message = state.withLock { state -> String? in
      if let file = state.file, OwnerFile.isFile(file, at: path) { return nil }
      return save(&state)
    }
    if let message { report(message) }
  }

  /// Leaves the note for commands that run after the server, and removes the notes of servers that ended before.
  func end() {
    // Before the lock of this note ends: it would be removed, too.
    FoundServeNote.removeEnded(in: directory)
    state.withLock { state in
      state.hasEnded = true
      Self.close(&state.file)
    }
  }

  /// Returns a message if the note cannot be written, and could be before.
  private func save(_ state: inout State) -> String? {
    guard !state.hasEnded, FileManager.default.fileExists(atPath: directory + "/Cache.db") else { return nil }
    do {
      let bytes = Data(try Console.json(state.record).utf8)
      let file = try OwnerFile.replace(path, by: bytes, isLocked: true, task: "cannot write \(path)")
      // The earlier file keeps its lock until it has lost its name: a note without a lock is one of an ended server.
      Self.close(&state.file)
      state.file = file
      state.isFailing = false
      return nil
    } catch {
      defer { state.isFailing = true }
      return state.isFailing
        ? nil : "\(directory): other commands cannot know the options of this server: \(error)"
    }
  }

  private static func close(_ file: inout FileHandle?) {
    // Closing is not enough: a child that this process is starting has a copy of the descriptor until it calls exec.
    if let file { flock(file.fileDescriptor, LOCK_UN) }
    file = nil
  }
}

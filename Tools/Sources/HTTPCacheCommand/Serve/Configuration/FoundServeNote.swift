import Foundation

/// A note of a server, which runs or has ended, as another command finds it.
struct FoundServeNote {
  /// The longest note in bytes.
  private static let longest = 64 << 10

  let path: String
  /// The choices of the server; nil if they cannot be read.
  let record: ServeRecord?
  /// Whether the server runs. A note that only another user can read counts as one of a server that runs.
  let isLive: Bool
  private let modificationDate: Date
  /// The file, whose shared lock lasts as long as this; nil if only another user can read it.
  private let file: FileHandle?

  /// Reads a note; nil if there is none at the path.
  private init?(_ path: String) {
    guard let (file, isLive) = Self.opened(path) else { return nil }
    self.path = path
    self.file = file
    self.isLive = isLive
    let bytes = (try? file?.read(upToCount: Self.longest + 1)) ?? Data()
    record = bytes.count > Self.longest ? nil : (try? JSONDecoder().decode(ServeRecord.self, from: bytes))
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    modificationDate = attributes?[.modificationDate] as? Date ?? .distantPast
  }

  /// Opens a note, and finds out whether its server holds the lock.
  private static func opened(_ path: String) -> (file: FileHandle?, isLive: Bool)? {
    while true {
      let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        guard errno == EACCES else { return nil }
        return (nil, true)
      }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      // Shared, so that two commands that read a note do not take each other for its server.
      let isLive = flock(descriptor, LOCK_SH | LOCK_NB) != 0
      // A server that replaces its note ends the lock of the file that had the name before.
      if isLive || OwnerFile.isFile(file, at: path) { return (file, isLive) }
    }
  }

  /// The notes in the directory of a cache, or the files that are to become notes, the one written last first.
  private static func all(in directory: String, isPart: Bool = false) -> [FoundServeNote] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { ServeNote.isName($0, isPart: isPart) }
      .compactMap { FoundServeNote("\(directory)/\($0)") }
      .sorted { $0.modificationDate > $1.modificationDate }
  }

  /// The notes of all servers of a directory that run, or else the note that was written last.
  static func current(in directory: String) -> [FoundServeNote] {
    let notes = all(in: directory)
    let live = notes.filter(\.isLive)
    return live.isEmpty ? Array(notes.filter { $0.record != nil }.prefix(1)) : live
  }

  /// Removes the notes of ended servers, and the files that they had no time to rename.
  static func removeEnded(in directory: String) {
    // A server locks its note before it names it, so that a note that was found without its lock stays without. A
    // server that waits for the lock of a file that is to become a note sees its removal, and makes another one.
    for note in all(in: directory) + all(in: directory, isPart: true) where !note.isLive {
      withExtendedLifetime(note) { _ = unlink(note.path) }
    }
  }
}

import Foundation

/// A note of a server, which runs or has ended, as another command finds it.
struct FoundServeNote {
  /// The longest note in bytes.
  private static let longest = 64 << 10

  /// The choices of the server; nil if they cannot be read.
  let record: ServeRecord?
  /// Whether the server runs.
  let isLive: Bool
  private let written: Date
  private let path: String

  /// Reads a note; nil if there is none at the path.
  private init?(_ path: String) {
    guard let (file, isLive) = Self.opened(path) else { return nil }
    self.path = path
    self.isLive = isLive
    let bytes = (try? file.read(upToCount: Self.longest + 1)) ?? Data()
    record = bytes.count > Self.longest ? nil : (try? JSONDecoder().decode(ServeRecord.self, from: bytes))
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    written = attributes?[.modificationDate] as? Date ?? .distantPast
  }

  /// Opens a note, and finds out whether its server holds the lock.
  private static func opened(_ path: String) -> (file: FileHandle, isLive: Bool)? {
    while true {
      let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      // Shared, so that two commands that read a note do not take each other for its server.
      let isLive = flock(descriptor, LOCK_SH | LOCK_NB) != 0
      // A server that replaces its note ends the lock of the file that had the name before.
      if isLive || OwnerFile.isFile(file, at: path) { return (file, isLive) }
    }
  }

  /// The notes in the directory of a cache, the one that was written last first.
  private static func all(in directory: String) -> [FoundServeNote] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { ServeNote.isName($0) }.compactMap { FoundServeNote("\(directory)/\($0)") }
      .sorted { $0.written > $1.written }
  }

  /// The choices of the servers of a directory: of all that run, or else of the ended one whose note was written last.
  static func records(in directory: String) -> [ServeRecord] {
    let notes = all(in: directory).filter { $0.record != nil }
    let live = notes.filter(\.isLive)
    return (live.isEmpty ? Array(notes.prefix(1)) : live).compactMap(\.record)
  }

  /// Removes the notes of ended servers.
  static func removeEnded(in directory: String) {
    // A server locks its note before it names it, so that a note that was found without its lock stays without.
    for note in all(in: directory) where !note.isLive { unlink(note.path) }
  }
}

import Foundation
import HTTPCacheDownloads
import HTTPCacheSemantics
import HTTPCaching

#if canImport(Glibc)
  import Glibc
#endif

/// The first bytes of a file whose response the cache does not store, in a hidden file beside the destination, until
/// a download of this or of a later process has loaded the rest.
///
/// The file is locked while it is open: of two downloads to one destination, the second gets no part.
final class DownloadPart: Sendable {
  /// The response that the bytes belong to. The note has a file of its own.
  struct Note: Codable, Equatable {
    /// The URL of the request, before redirects.
    var url: String
    var partition: String
    /// The strong validator of the response, as `If-Range` carries it.
    var validator: Data
    /// The length of the whole file in bytes.
    var length: Int64
    /// Names the run of the system that wrote the bytes: a power loss may leave zeros in their place.
    var run = SystemRun.name
  }

  let note: Note
  /// The number of bytes that earlier downloads wrote.
  let received: Int64
  let descriptor: Int32
  private let place: Place

  private struct Place {
    let file: String
    let note: String

    init(_ destination: URL) {
      let folder = destination.deletingLastPathComponent()
      file = folder.appendingPathComponent(".\(destination.lastPathComponent).httpcache-part").path
      note = file + ".json"
    }

    func savedNote() -> Note? {
      guard let data = FileManager.default.contents(atPath: note) else { return nil }
      return try? JSONDecoder().decode(Note.self, from: data)
    }
  }

  private init(_ note: Note, _ received: Int64, _ descriptor: Int32, _ place: Place) {
    (self.note, self.received, self.descriptor, self.place) = (note, received, descriptor, place)
  }

  deinit { close(descriptor) }

  /// The bytes of an earlier download, opened; nil if there are none that can be continued.
  ///
  /// - Parameters:
  ///   - url: the URL of the request.
  ///   - partition: the account of the session.
  ///   - destination: the file to make.
  static func kept(of url: URL, _ partition: String, at destination: URL) -> DownloadPart? {
    let place = Place(destination)
    guard let note = place.savedNote(), note.url == url.absoluteString, note.partition == partition,
      note.run == SystemRun.name, !note.run.isEmpty, let descriptor = lock(place, flags: 0)
    else { return nil }
    // The last byte of a complete file is loaded again: the origin then says that the file is still the same.
    let received = min(Int64(lseek(descriptor, 0, SEEK_END)), note.length - 1)
    // The note may have been replaced before the lock was taken.
    guard place.savedNote() == note, received > 0, lseek(descriptor, off_t(received), SEEK_SET) > 0 else {
      close(descriptor)
      return nil
    }
    return DownloadPart(note, received, descriptor, place)
  }

  /// Makes an empty part; nil if another download has it, or no file can be made.
  static func new(_ note: Note, at destination: URL) -> DownloadPart? {
    let place = Place(destination)
    guard let data = try? JSONEncoder().encode(note), let descriptor = lock(place, flags: O_CREAT)
    else { return nil }
    // Remove the old bytes before the note names the new response. The note may contain secrets of the URL.
    let mode = [FileAttributeKey.posixPermissions: 0o600]
    guard ftruncate(descriptor, 0) == 0,
      FileManager.default.createFile(atPath: place.note, contents: data, attributes: mode)
    else {
      close(descriptor)
      return nil
    }
    return DownloadPart(note, 0, descriptor, place)
  }

  /// Opens and locks the file; nil if it is not there, or another download has it.
  private static func lock(_ place: Place, flags: Int32) -> Int32? {
    let descriptor = open(place.file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o666)
    guard descriptor >= 0 else { return nil }
    var (opened, named) = (stat(), stat())
    // The download that had the file may have moved it to the destination before the lock was taken.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0,
      lstat(place.file, &named) == 0, opened.st_ino == named.st_ino
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Moves the complete file to the destination in one step.
  ///
  /// - Throws: `CocoaError`; the part then stays.
  func finish(at destination: URL) throws {
    try TemporaryFile.move(place.file, to: destination)
    unlink(place.note)
  }

  /// Removes the part.
  func remove() {
    unlink(place.file)
    unlink(place.note)
  }
}

import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore
import HTTPCaching
import Synchronization

/// The list of a queue on disk: `downloads/NAME.list` in the cache's directory, to which changes are appended, and
/// which is written anew when it has grown. One queue at a time holds the lock `downloads/NAME.lock`.
final class DownloadList: Sendable {
  private struct State {
    /// Nil before the list is loaded, and after it was closed.
    var file: CacheFile?
    var bytes: Int64 = 0
    /// A longer file is written anew.
    var limit: Int64 = 0
    /// Whether the file may lack changes, and must be written anew.
    var isIncomplete = false
    var isClosed = false
  }

  let file: ListFile
  private let lock: OpenFile<SystemError>
  private let isDurable: Bool
  private let state = Mutex(State())

  /// The file is written anew when it is this much longer than twice what it was when it was new.
  private static let slack: Int64 = 256 << 10

  private var path: String { file.path }

  /// Takes the lock of a list.
  ///
  /// - Parameter isDurable: whether each change is on the disk before `save` returns.
  /// - Throws: `DownloadError` with `inUse` or `unavailable`.
  init(_ file: ListFile, isDurable: Bool) throws(DownloadError) {
    self.file = file
    self.isDurable = isDurable
    if mkdir(file.folder, 0o700) != 0, errno != EEXIST { throw Self.error("make \(file.folder)") }
    let lockPath = "\(file.folder)/\(file.name).lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.error("open \(lockPath)") }
    lock = OpenFile(descriptor: descriptor)
    let code = -lock.lockCode()
    guard code == 0 else {
      throw code == EWOULDBLOCK
        ? DownloadError(.inUse, "another queue has the list \(file.path) open")
        : Self.error("lock \(lockPath)", code)
    }
  }

  deinit { close() }

  /// Lets another queue open the list. Later changes are not written.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      state.file = nil
      lock.unlock()
    }
  }

  /// Reads the list. What is readable is kept; a file with damage is set aside beside the list.
  ///
  /// - Returns: the downloads, and what is to be told about damage.
  /// - Throws: `DownloadError` with `unavailable` if the file cannot be read or written.
  func load() throws(DownloadError) -> (items: [DownloadItem], notes: [String]) {
    let contents = try file.read()
    if let length = contents.length, resume(length) { return (contents.items, []) }
    var notes: [String] = []
    if let damage = contents.damage {
      let aside = "\(file.path).damaged"
      // A copy by link: the next step replaces the list.
      unlink(aside)
      let isKept = link(file.path, aside) == 0
      notes.append("\(file.path): \(damage)" + (isKept ? ", and the file as \(aside)" : ""))
    }
    do throws(CacheError) { try rewrite(contents.items) } catch {
      throw DownloadError(.unavailable, "\(error)")
    }
    return (contents.items, notes)
  }

  /// Appends to the file as it is; false if it cannot be written.
  private func resume(_ length: Int64) -> Bool {
    guard let list = try? CacheFile(path: path, flags: O_WRONLY | O_NOFOLLOW | O_APPEND) else { return false }
    state.withLock { $0 = State(file: list, bytes: length, limit: length * 2 + Self.slack) }
    return true
  }

  /// Writes changes.
  ///
  /// - Parameters:
  ///   - take: returns the changes since the last call; called when no other thread writes, so that the last
  ///     state of a download is written last.
  ///   - all: returns all downloads, for a file that is written anew.
  /// - Throws: `CacheError`. The changes are not lost: the next call writes the file anew.
  func save(
    _ take: () -> (changed: [DownloadItem], removed: [DownloadID]), all: () -> [DownloadItem]
  ) throws(CacheError) {
    let result = state.withLock { state -> Result<Void, CacheError> in
      if state.isClosed { return .success(()) }
      let (changed, removed) = take()
      if changed.isEmpty, removed.isEmpty, !state.isIncomplete { return .success(()) }
      do throws(CacheError) {
        guard !state.isIncomplete, let list = state.file else { return .success(try rewrite(all(), &state)) }
        var frames = removed.flatMap { ListFrames.frame(removal: $0.rawValue) }
        for item in changed { frames += try file.frame(item) }
        state.isIncomplete = true
        try write(frames, to: list)
        if isDurable, fsync(list.descriptor) != 0 {
          throw CacheFile.failure("cannot write \(path) to the disk")
        }
        state.bytes += Int64(frames.count)
        state.isIncomplete = false
        if state.bytes > state.limit { try rewrite(all(), &state) }
        return .success(())
      } catch {
        state.isIncomplete = true
        return .failure(error)
      }
    }
    try result.get()
  }

  private func rewrite(_ items: [DownloadItem]) throws(CacheError) {
    let result = state.withLock { state -> Result<Void, CacheError> in
      do throws(CacheError) { return .success(try rewrite(items, &state)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Writes a new file and moves it over the old one in one step.
  private func rewrite(_ items: [DownloadItem], _ state: inout State) throws(CacheError) {
    var frames: [UInt8] = []
    for item in items { frames += try file.frame(item) }
    let temporaryPath = path + ".new"
    // A process that was killed may have left one.
    unlink(temporaryPath)
    let new = try ReplacedFile(path: path, temporaryPath: temporaryPath, flags: O_APPEND, permissions: 0o600)
    try write(frames, to: new.file)
    try new.finish()
    state = State(
      file: new.file, bytes: Int64(frames.count), limit: Int64(frames.count) * 2 + Self.slack)
  }

  private func write(_ bytes: [UInt8], to list: CacheFile) throws(CacheError) {
    let code = bytes.withUnsafeBytes { Descriptor.writeAll($0, to: list.descriptor) }
    if code != 0 { throw CacheFile.failure("cannot write \(path)", code) }
  }

  static func error(_ operation: String, _ code: Int32 = errno) -> DownloadError {
    DownloadError(.unavailable, "cannot \(operation): \(String(cString: strerror(code)))")
  }
}

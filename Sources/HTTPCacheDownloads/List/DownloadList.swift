import HTTPCaching
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The list of a queue on disk: `downloads/NAME.list` in the cache's directory, to which changes are appended, and
/// which is written anew when it has grown. One queue at a time holds the lock `downloads/NAME.lock`.
final class DownloadList: Sendable {
  private struct State {
    var descriptor: Int32 = -1
    var bytes: Int64 = 0
    /// A longer file is written anew.
    var limit: Int64 = 0
    /// Whether the file may lack changes, and must be written anew.
    var isIncomplete = false
    var isClosed = false
  }

  private let folder: String
  private let path: String
  private let lock: Int32
  private let cipher: (any CacheCipher)?
  private let context: [UInt8]
  private let isDurable: Bool
  private let state = Mutex(State())

  /// The longest file that is read.
  private static let longest: Int64 = 1 << 30
  /// The file is written anew when it is this much longer than twice what it was when it was new.
  private static let slack: Int64 = 256 << 10

  /// Takes the lock of a list.
  ///
  /// - Parameters:
  ///   - cipher: encrypts the records; nil writes plain text.
  ///   - isDurable: whether each change is on the disk before `save` returns.
  /// - Throws: `DownloadError` with `inUse` or `unavailable`.
  init(
    name: String, directory: String, cipher: (any CacheCipher)?, isDurable: Bool
  ) throws(DownloadError) {
    folder = directory + "/downloads"
    path = "\(folder)/\(name).list"
    self.cipher = cipher
    context = Array("download list \(name)".utf8)
    self.isDurable = isDurable
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Self.error("make \(folder)") }
    let lockPath = "\(folder)/\(name).lock"
    lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw Self.error("open \(lockPath)") }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      // `deinit` closes the descriptor.
      let code = errno
      throw code == EWOULDBLOCK
        ? DownloadError(.inUse, "another queue has the list \(path) open")
        : Self.error("lock \(lockPath)", code)
    }
  }

  deinit { close() }

  /// Lets another queue open the list. Later changes are not written.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      if state.descriptor >= 0 { systemClose(state.descriptor) }
      systemClose(lock)
    }
  }

  /// Reads the list. What is readable is kept; a file with damage is set aside beside the list.
  ///
  /// - Returns: the downloads, and what is to be told about damage.
  /// - Throws: `DownloadError` with `unavailable` if the file cannot be read or written.
  func load() throws(DownloadError) -> (items: [DownloadItem], notes: [String]) {
    let bytes = try contents()
    let (found, damagedBytes) = bytes.withUnsafeBytes { ListFrames.read($0) }
    var items: [DownloadID: DownloadItem] = [:]
    var unreadable = 0
    for payload in found {
      switch payload {
      case .removal(let id): items[DownloadID(rawValue: id)] = nil
      case .item(let sealed):
        do throws(CacheError) {
          let plain = try cipher?.open(sealed, for: .record, context: context) ?? sealed
          let item = try DownloadRecord.decode(plain)
          items[item.id] = item
        } catch { unreadable += 1 }
      }
    }
    var notes: [String] = []
    if damagedBytes > 0 || unreadable > 0 {
      let aside = "\(path).damaged"
      // A copy by link: the next step replaces the list.
      unlink(aside)
      let isKept = link(path, aside) == 0
      notes.append(
        "\(path): \(damagedBytes) damaged bytes and \(unreadable) unreadable records; "
          + "\(items.count) downloads are kept" + (isKept ? ", and the file as \(aside)" : ""))
    }
    let all = Array(items.values)
    do throws(CacheError) { try rewrite(all) } catch {
      throw DownloadError(.unavailable, "\(error)")
    }
    return (all, notes)
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
        if state.isIncomplete { return .success(try rewrite(all(), &state)) }
        var frames = removed.flatMap { ListFrames.frame(.removal($0.rawValue)) }
        for item in changed { frames += try frame(item) }
        state.isIncomplete = true
        try append(frames, &state)
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
    for item in items { frames += try frame(item) }
    let new = path + ".new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make \(new)") }
    do throws(CacheError) {
      try write(frames, to: descriptor)
      // Otherwise a power loss could leave the new name with an empty file.
      guard fsync(descriptor) == 0 else { throw Self.failure("write \(new) to the disk") }
      guard rename(new, path) == 0 else { throw Self.failure("replace \(path)") }
    } catch {
      systemClose(descriptor)
      unlink(new)
      throw error
    }
    if state.descriptor >= 0 { systemClose(state.descriptor) }
    state = State(
      descriptor: descriptor, bytes: Int64(frames.count),
      limit: Int64(frames.count) * 2 + Self.slack, isIncomplete: false)
  }

  private func append(_ frames: [UInt8], _ state: inout State) throws(CacheError) {
    try write(frames, to: state.descriptor)
    if isDurable, fsync(state.descriptor) != 0 { throw Self.failure("write \(path) to the disk") }
    state.bytes += Int64(frames.count)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) throws(CacheError) {
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    if code != 0 { throw Self.failure("write \(path)", code) }
  }

  private func frame(_ item: DownloadItem) throws(CacheError) -> [UInt8] {
    guard let plain = DownloadRecord.encode(item) else {
      throw CacheError(.tooLarge, "the record of \(item.download.url.prefix(80)) is too long for the list")
    }
    return ListFrames.frame(.item(try cipher?.seal(plain, for: .record, context: context) ?? plain))
  }

  private func contents() throws(DownloadError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw Self.error("open \(path)")
    }
    defer { systemClose(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int64(status.st_size) <= Self.longest
    else { throw DownloadError(.unavailable, "\(path) is not a list of downloads") }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = systemRead(
          descriptor, UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...])))
        if got < 0, errno == EINTR { continue }
        if got <= 0 { break }
        count += got
      }
    }
    guard bytes.count == size else { throw Self.error("read \(path)") }
    return bytes
  }

  private static func failure(_ operation: String, _ code: Int32 = errno) -> CacheError {
    CacheError(
      code == ENOSPC || code == EDQUOT ? .noSpace : .io,
      "cannot \(operation): \(String(cString: strerror(code)))")
  }

  private static func error(_ operation: String, _ code: Int32 = errno) -> DownloadError {
    DownloadError(.unavailable, "cannot \(operation): \(String(cString: strerror(code)))")
  }
}

/// Writes all bytes to a descriptor.
///
/// - Returns: 0, or the number of the error.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
  var rest = bytes[...]
  while !rest.isEmpty {
    let part = UnsafeRawBufferPointer(rebasing: rest)
    let count = write(descriptor, part.baseAddress, part.count)
    if count < 0 {
      if errno == EINTR { continue }
      return errno
    }
    rest = rest.dropFirst(count)
  }
  return 0
}

/// The system's calls, outside of types that have functions of these names.
func systemClose(_ descriptor: Int32) { close(descriptor) }

func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, bytes.baseAddress, bytes.count)
}

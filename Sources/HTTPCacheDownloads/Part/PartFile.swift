import CSystemShims
import Dispatch
import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore
public import HTTPCaching
import Synchronization

/// A file that is being received, in the folder `NAME.httpcache-part` beside its destination, with a record that lets a
/// later process continue it. One object at a time has a folder open; others for the same file get a folder of their
/// own. Reads and writes on a thread that may block.
///
/// A killed process loses nothing that it wrote. A power loss may: after it, only bytes count that were synced, which
/// happens every 64 MiB and in `keep()`.
public final class PartFile: Sendable {
  struct State {
    var record: PartRecord?
    var bytes: PartState
    /// The bytes that can be relied on.
    var kept: [Range<Int64>] = []
    /// Where the bytes of this transfer begin.
    var start: Int64 = 0
    /// The bytes that come again and are there already.
    var repeated: Int64 = 0
    var unsaved: Int64 = 0
    var unsynced: Int64 = 0
    var isSyncing = false
    var isLeft = false
    var isClosed = false
  }

  let folder: PartFolder
  let state: Mutex<State>
  /// The permissions that a new file of this user gets here.
  let newMode: mode_t
  let queue = DispatchQueue(label: "swift-http-cache.part")
  /// Apart, so that other ranges are written during a sync.
  private let syncQueue = DispatchQueue(label: "swift-http-cache.part.sync")

  /// The record of ranges is saved after this many bytes, so that a killed process loses no more.
  private static let saveStep: Int64 = 256 << 10
  private static let syncStep: Int64 = 64 << 20

  /// The path of the folder.
  public var path: String { folder.path }
  /// The response that the bytes belong to; nil if they cannot be continued.
  public var record: PartRecord? { state.withLock { $0.record } }
  /// The number of bytes from the first one to the first gap.
  public var received: Int64 {
    state.withLock { $0.kept.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }
  }
  /// The offset from which on to ask for the rest; nil if nothing can be continued. The last byte of a complete part
  /// is asked for again: the answer tells whether the file is still current.
  var offset: Int64? {
    let received = received
    guard let record else { return nil }
    let offset = min(received, (record.length ?? .max) - 1)
    return offset > 0 ? offset : nil
  }
  /// Whether the bytes that come next are there already, and are dropped.
  var repeatsBytes: Bool { state.withLock { $0.repeated > 0 } }
  /// The bytes that are there.
  var kept: [Range<Int64>] { state.withLock { $0.kept } }

  /// Opens the part of a file, or makes an empty one.
  ///
  /// - Parameter file: the path of the file that will be made.
  /// - Throws: `DownloadFailure` if no part can be made.
  public convenience init(beside file: String) throws(DownloadFailure) {
    let (folder, code) = PartFolder.open(beside: file, makes: true)
    guard let folder else {
      let name = PartFolder.path(beside: file)
      throw code != 0
        ? DownloadFailure(systemError: code, "write to \(file)")
        : DownloadFailure(.io, "\(name) and those after it are in use, or not folders of this user")
    }
    let (record, recordCode) = folder.readRecord()
    // The bytes stay: a later attempt may be able to read the record.
    if recordCode != 0 { throw DownloadFailure(systemError: recordCode, "read \(folder.path)/record") }
    self.init(folder, record: record)
  }

  /// Opens the part of a file; nil if there is none, it cannot be read now, or another process or object has it open.
  public convenience init?(existingBeside file: String) {
    guard let folder = PartFolder.open(beside: file, makes: false).folder else { return nil }
    let (record, code) = folder.readRecord()
    guard code == 0 else { return nil }
    self.init(folder, record: record)
  }

  private init(_ folder: PartFolder, record bytes: [UInt8]?) {
    self.folder = folder
    var status = folder.status
    var state = State(bytes: PartState(inode: UInt64(status.st_ino)))
    if let bytes, let (found, record) = PartState.decoded(bytes),
      found.inode == state.bytes.inode
    {
      state.kept = found.kept(size: Int64(status.st_size), length: record.length)
      if !state.kept.isEmpty { (state.record, state.bytes) = (record, found) }
    }
    if state.record == nil, folder.clear() == 0 {
      status = folder.status
      state.bytes = PartState(inode: UInt64(status.st_ino))
    }
    state.start = state.kept.last?.upperBound ?? 0
    newMode = status.st_mode & 0o777
    self.state = Mutex(state)
  }

  deinit { close() }

  // MARK: Receiving

  /// Begins a body at its first byte. The bytes that are there are dropped, unless they are of the same representation
  /// (the same strong entity tag and length): then they stay until the body has more, so that a transfer that breaks off
  /// loses nothing.
  ///
  /// - Parameters:
  ///   - record: the record of the next response; nil if that response cannot be continued.
  ///   - request: the request for the whole file; nil drops all bytes.
  ///   - scope: that of the request, as in `PartRecord`.
  /// - Throws: `DownloadFailure`.
  public func begin(
    _ record: PartRecord?, for request: HTTPRequest? = nil, scope: String = ""
  ) throws(DownloadFailure) {
    let received = received
    if received > 0, let record, let request, let known = self.record,
      known.belongs(to: request, scope: scope),
      known.hasOctets(of: record)
    {
      try resume(at: received)
      return state.withLock { $0.repeated = received }
    }
    let code = folder.clear()
    if code != 0 { throw DownloadFailure(systemError: code, "write to \(path)") }
    state.withLock {
      $0 = State(record: record, bytes: PartState(inode: UInt64(folder.status.st_ino)))
      // If the record cannot be written, the body is received all the same, but cannot be continued.
      if save(&$0) != 0 { $0.record = nil }
    }
  }

  /// Goes on with the bytes that are there.
  ///
  /// - Parameters:
  ///   - offset: bytes from here on are dropped, and the next ones are added here; nil keeps all.
  ///   - length: the length of the representation in bytes, if the response that goes on tells it.
  /// - Throws: `DownloadFailure`.
  public func resume(at offset: Int64? = nil, length: Int64? = nil) throws(DownloadFailure) {
    let code = state.withLock { state -> Int32 in
      if let offset { state.kept = PartState.clip(state.kept, to: offset) }
      state.bytes.boot = BootID.current
      let end = state.kept.last?.upperBound ?? 0
      if let length, length >= end, state.record?.length == nil { state.record?.length = length }
      state.start = end
      state.bytes.written = state.kept
      state.bytes.synced = PartState.clip(state.bytes.synced, to: end)
      state.bytes.isStream = state.kept == (end > 0 ? [0..<end] : [])
      return ftruncate(folder.body.descriptor, off_t(end)) == 0 ? save(&state) : errno
    }
    if code != 0 { throw DownloadFailure(systemError: code, "write to \(path)") }
  }

  /// Adds bytes at the end.
  ///
  /// - Throws: `DownloadFailure`.
  public func append(_ bytes: BodyBytes) async throws(DownloadFailure) {
    let (new, offset) = state.withLock { state in
      let repeated = min(state.repeated, Int64(bytes.count))
      state.repeated -= repeated
      return (bytes.dropFirst(Int(repeated)), state.kept.last?.upperBound ?? 0)
    }
    if !new.isEmpty { try await write(new, at: offset) }
  }

  /// Writes bytes at their position. Several tasks may write at once.
  ///
  /// - Throws: `DownloadFailure`.
  func write(_ bytes: BodyBytes, at offset: Int64) async throws(DownloadFailure) {
    let range = offset..<offset + Int64(bytes.count)
    var code = state.withLock { state -> Int32 in
      guard state.bytes.isStream, offset != state.kept.last?.upperBound ?? 0 else { return 0 }
      // From here on the length of the file does not say which bytes are there.
      state.bytes.isStream = false
      let code = save(&state)
      // As long as the record does not say so, nothing may be written beyond a gap.
      if code != 0 { state.bytes.isStream = true }
      return code
    }
    if code == 0 {
      code = await on(queue) { descriptor in
        bytes.withUnsafeBytes { -shim_write(descriptor, $0.baseAddress, $0.count, offset) }
      }
    }
    if code != 0 { throw DownloadFailure(systemError: code, "write \(path)") }
    try await wrote(range)
  }

  private func wrote(_ range: Range<Int64>) async throws(DownloadFailure) {
    let isSyncDue = state.withLock { state in
      state.kept = StoredRanges.union(state.kept + [range])
      guard state.record != nil else { return false }
      let count = range.upperBound - range.lowerBound
      state.unsaved += count
      state.unsynced += count
      if !state.bytes.isStream, state.unsaved >= Self.saveStep { _ = save(&state) }
      return state.unsynced >= Self.syncStep && !state.isSyncing
    }
    if isSyncDue { try await sync() }
  }

  private func sync() async throws(DownloadFailure) {
    let kept = state.withLock { state in
      (state.isSyncing, state.unsynced) = (true, 0)
      return state.kept
    }
    let code = await on(syncQueue) { fsync($0) == 0 ? 0 : errno }
    state.withLock { state in
      state.isSyncing = false
      guard code == 0, !state.isClosed else { return }
      // Bytes may have been dropped during the sync.
      state.bytes.synced = PartState.common(kept, state.kept)
      _ = save(&state, isDurable: true)
    }
    if code != 0 { throw DownloadFailure(systemError: code, "write \(path) to the disk") }
  }

  /// Saves the record if there is one.
  ///
  /// - Parameter isDurable: whether it must survive a power loss.
  /// - Returns: 0, or the number of the error.
  func save(_ state: inout State, isDurable: Bool = false) -> Int32 {
    guard let record = state.record else { return 0 }
    state.unsaved = 0
    state.bytes.written = state.kept
    return folder.writeRecord(state.bytes.encoded(with: record), isDurable: isDurable)
  }

  func on<Result: Sendable>(
    _ queue: DispatchQueue, _ body: @escaping @Sendable (Int32) -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async { [folder] in
        let file = folder.body
        continuation.resume(returning: body(file.descriptor))
      }
    }
  }

  // MARK: The end

  /// Writes what was received to the disk, so that not even a power loss takes it. For a transfer that broke off.
  public func keep() async {
    if state.withLock({ $0.record != nil && !$0.isClosed && $0.unsynced > 0 }) { try? await sync() }
  }

  /// Leaves the body in the folder although no record lets it continue, for its user.
  public func leaveBody() { state.withLock { $0.isLeft = true } }

  /// Removes the part.
  public func discard() {
    let isOpen = state.withLock { state in
      (state.record, state.isLeft) = (nil, false)
      return !state.isClosed
    }
    if isOpen { close() }
  }

  /// Lets others open the part. Bytes without a record are removed.
  public func close() {
    let (isOpen, isKept) = state.withLock { state in
      defer { state.isClosed = true }
      if !state.isClosed, !state.bytes.isStream { _ = save(&state) }
      return (!state.isClosed, state.isLeft || state.record != nil && !state.kept.isEmpty)
    }
    guard isOpen else { return }
    if !isKept { folder.remove() }
    folder.unlock()
  }
}

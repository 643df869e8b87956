import Dispatch
import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore
public import HTTPCaching
import Synchronization

/// The bytes of a part, and its way to the destination.
extension PartFile {
  /// Computes the digests of the file that the origin stated, and others.
  ///
  /// - Parameter digests: digests that the whole file must have, too.
  /// - Returns: the algorithm of the first digest that the bytes do not have; nil if they have all, or the package was
  ///   built without the trait `Crypto`.
  /// - Throws: `DownloadFailure` if the file cannot be read; `CancellationError`.
  public func mismatch(of digests: [IntegrityDigest] = []) async throws -> IntegrityDigest.Algorithm? {
    try await difference(from: digests)?.expected.algorithm
  }

  /// As `mismatch(of:)`, with the digest that the bytes have.
  func difference(from digests: [IntegrityDigest]) async throws -> DigestVerifier.Difference? {
    let stated = record.map { IntegrityDigest.list(of: .representation, in: $0.fields) } ?? []
    return try await FileDigests.difference(from: digests + stated, in: folder.body, at: path, on: queue)
  }

  /// Makes the body a clone of a stored body where the file system can, else a copy.
  ///
  /// - Throws: `CacheError`.
  package func clone(_ reader: any BodyReader) async throws(CacheError) {
    folder.removeNewBody()
    do throws(CacheError) { try await reader.clone(to: folder.newBodyPath) } catch {
      folder.removeNewBody()
      throw error
    }
    guard takeNewBody() else {
      folder.removeNewBody()
      throw CacheError(.io, "\(path) has a copy of the body that cannot be opened")
    }
  }

  /// Makes the body another name of an open file; false if the system cannot.
  func link(to descriptor: Int32) -> Bool {
    #if os(Linux)
      folder.removeNewBody()
      let source = "/proc/self/fd/\(descriptor)"
      return linkat(AT_FDCWD, source, AT_FDCWD, folder.newBodyPath, AT_SYMLINK_FOLLOW) == 0 && takeNewBody()
    #else
      return false
    #endif
  }

  private func takeNewBody() -> Bool {
    state.withLock { $0.record = nil }
    return folder.takeNewBody() == 0
  }

  /// Gives the complete body its mode, which is that of the file it replaces or of a new file, and its time.
  ///
  /// - Parameters:
  ///   - path: the destination.
  ///   - modified: seconds since 1970; nil leaves the time of writing.
  ///   - isDurable: whether its bytes must be on the disk before this returns.
  /// - Returns: what tells the file, here and at the destination.
  func finish(
    for path: String, modified: Int64?, isDurable: Bool
  ) throws(DownloadFailure) -> PlacedFile {
    let body = folder.body
    let mode = Self.existing(path).map { $0.st_mode & 0o777 } ?? newMode
    guard fchmod(body.descriptor, mode) == 0 else {
      throw DownloadFailure(systemError: errno, "set the mode of \(self.path)")
    }
    if let modified {
      var times = [timespec(), timespec()]
      times[0].tv_sec = time_t(time(nil))
      times[1].tv_sec = time_t(clamping: modified)
      // A file system that cannot keep this time keeps the time of writing.
      _ = futimens(body.descriptor, times)
    }
    if isDurable, fsync(body.descriptor) != 0 {
      throw DownloadFailure(systemError: errno, "write \(self.path) to the disk")
    }
    return PlacedFile(folder.status)
  }

  private static func existing(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
  }

  /// Moves the body to its destination in one step, and removes the part.
  ///
  /// - Parameter mustBeNew: whether a file that is there stays.
  /// - Throws: `DownloadFailure`; the part then stays.
  func move(to path: String, mustBeNew: Bool) throws(DownloadFailure) {
    let code = folder.moveBody(to: path, mustBeNew: mustBeNew)
    if mustBeNew, code == EEXIST {
      throw DownloadFailure(.destinationExists, "\(path) appeared during the download")
    }
    if code != 0 { throw DownloadFailure(systemError: code, "move the file to \(path)") }
    discard()
  }

  /// Puts the complete body at its destination in one step, with the mode and if possible the owner of the file that
  /// it replaces, and removes the part.
  ///
  /// - Parameters:
  ///   - path: the destination. A symbolic link is replaced, not followed.
  ///   - modified: the time of the file, in seconds since 1970; nil leaves the time of writing.
  ///   - mustBeNew: whether a file that is there stays.
  ///   - mayCopy: whether to copy the bytes into a file that cannot be replaced without losing its owner or its other
  ///     names. That takes more than one step.
  ///   - isDurable: whether the bytes must be on the disk before the file has its name.
  /// - Throws: `DownloadFailure`, also with `destinationExists`; the part then stays.
  public func place(
    at path: String, modified: Int64? = nil, mustBeNew: Bool = false, mayCopy: Bool = false,
    isDurable: Bool = false
  ) throws(DownloadFailure) {
    _ = try finish(for: path, modified: modified, isDurable: isDurable)
    guard !mustBeNew, let existing = Self.existing(path) else {
      return try move(to: path, mustBeNew: mustBeNew)
    }
    let isSame = keepOwner(of: existing)
    if !mayCopy { return try move(to: path, mustBeNew: false) }
    if existing.st_nlink == 1, isSame, folder.moveBody(to: path, mustBeNew: false) == 0 { return discard() }
    let (code, hasChanged) = folder.copyBody(into: path)
    guard code == 0 else {
      let failure = DownloadFailure(systemError: code, "write to \(path)")
      throw hasChanged
        ? DownloadFailure(failure.kind, "\(path) is only partly written: \(failure.message)") : failure
    }
    discard()
  }

  private func keepOwner(of existing: stat) -> Bool {
    let (body, status) = (folder.body, folder.status)
    if status.st_uid == existing.st_uid, status.st_gid == existing.st_gid { return true }
    guard fchown(body.descriptor, existing.st_uid, existing.st_gid) == 0 else { return false }
    // A change of the owner clears bits of the mode.
    return fchmod(body.descriptor, existing.st_mode & 0o777) == 0
  }
}

import HTTPCacheDisk
public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes
import Synchronization

extension HTTPCache {
  /// The stored body of a response as a file, without asking the origin.
  ///
  /// The file is linked or cloned where the file system can, else copied: see `CachedFile`. Its bytes
  /// were checked. The request's own conditions, ranges and directives do not count; redirects are
  /// followed as far as they are stored.
  ///
  /// - Parameters:
  ///   - request: a GET, with scheme, authority and path.
  ///   - policy: how fresh it has to be: `.cacheElseNetwork` (the default) takes what is stored whatever
  ///     its age, `.standard` what may be used without asking the origin.
  ///   - options: partition, redirects, and whether decoded bodies will do.
  ///   - writesMemoryOnly: whether to write a file of a response that may be in memory only
  ///     (`StoragePolicy.allowedInMemoryOnly`), or of one of an encrypted cache, which then lies there
  ///     in the clear as long as it is held, or until the directory is opened next after a crash. A cache without a directory does so in any case: its
  ///     files go to the temporary ones.
  /// - Returns: nil if nothing is stored that may be used, or only a part of it, or where it would
  ///   bring to the disk what may be in memory only, or there encrypted.
  /// - Throws: `CacheError` with `invalidRequest` for a request without an absolute URI; with `io`,
  ///   `noSpace` or `unavailable` if no file can be made.
  public func file(
    for request: HTTPRequest, policy: CachePolicy = .cacheElseNetwork,
    options: RequestOptions = RequestOptions(), writesMemoryOnly: Bool = false
  ) async throws(CacheError) -> CachedFile? {
    guard request.method == .get,
      let answer = try storedResponse(
        to: request.unconditional(keepsRange: false), policy: policy, options: options),
      let stored = answer.body.source.stored,
      writesMemoryOnly
        || (!store.isSealed && (configuration.directory == nil || !answer.isMemoryOnly))
    else { return nil }
    let length = stored.range.upperBound
    do throws(CacheError) { try await check(stored.reader, length: length) } catch {
      // Damaged, or gone: as if it were not there.
      observe(.storeFailed(operation: "read body", error))
      takeBack(CacheCounts(hits: 1, hitBytes: length))
      return nil
    }
    let name =
      String(UInt64.random(in: .min ... .max), radix: 36)
      + String(UInt64.random(in: .min ... .max), radix: 36)
      + FileExtension.of(answer.head.headerFields)
    let handout = try currentHandout()
    if stored.reader.fileRegion.map({ handout.link($0.descriptor, as: name) }) != true {
      try await stored.reader.clone(to: handout.path(of: name))
    }
    return CachedFile(name, in: handout, length: length, answer: answer)
  }

  /// Reads a body that is about to be handed out, unless all of it was checked already.
  private func check(_ reader: any BodyReader, length: Int64) async throws(CacheError) {
    guard let region = reader.fileRegion, !region.isVerified else { return }
    let step: Int64 = 256 << 10
    var position: Int64 = 0
    while position < length {
      let bytes = try await reader.read(position..<min(length, position + step))
      guard !bytes.isEmpty else { throw CacheError(.damaged, "the body ended at byte \(position)") }
      position += Int64(bytes.count)
    }
  }

  /// The folder for files; made when it is first needed.
  private func currentHandout() throws(CacheError) -> FileHandout {
    if let current = handout.withLock({ $0 }) { return current }
    let made = try makeHandout()
    return handout.withLock { current in
      if let current { return current }
      current = made
      return made
    }
  }

  private func makeHandout() throws(CacheError) -> FileHandout {
    if let directory = configuration.directory {
      do throws(CacheError) { return try FileHandout(in: directory) } catch {
        observe(.storeFailed(operation: "make files", error))
      }
    }
    return try FileHandout.temporary()
  }
}

import HTTPCacheDisk
import HTTPCacheSealing
public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes
import Synchronization

extension HTTPCache {
  /// The stored body of a response as a file, without asking the origin.
  ///
  /// The file is linked or cloned where the file system supports it, else copied: see `CachedFile`. All its
  /// bytes are checked. Conditions, ranges and cache directives of the request are ignored. Stored redirects
  /// are followed.
  ///
  /// - Parameters:
  ///   - request: a GET, with scheme, authority and path.
  ///   - policy: how fresh the response must be: `.cacheElseNetwork` (the default) accepts any age, `.standard`
  ///     accepts a response that may be used without asking the origin.
  ///   - options: partition, redirects, and whether decoded bodies are accepted.
  ///   - writesMemoryOnly: whether to write a file even if the response may be in memory only
  ///     (`StoragePolicy.allowedInMemoryOnly`), or if the cache is encrypted. The file is then on disk in the
  ///     clear as long as it is held; after a crash, until the directory is next opened. A cache without a
  ///     directory always writes its files into the temporary directory.
  /// - Returns: nil if no complete stored response may be used, or if `writesMemoryOnly` is false and the file
  ///   would bring to disk what may be in memory only or must be encrypted.
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
      // Damaged or gone: treat it as not stored.
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

  /// Reads a body that is about to be handed out, unless all its blocks were checked already.
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

  /// The folder for files, made when first needed.
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

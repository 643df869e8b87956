import HTTPCacheDisk
import HTTPCacheSealing
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Makes files of stored bodies, in a folder that is made when first needed.
final class HandedOutFiles: Sendable {
  /// The directory of the cache; nil for one in memory.
  private let directory: String?
  private let observers: Observers
  private let folder = Mutex<FileHandout?>(nil)

  init(directory: String?, observers: Observers) {
    self.directory = directory
    self.observers = observers
  }

  /// As `HTTPCache.file(for:policy:options:writesMemoryOnly:)`.
  func file(
    for request: HTTPRequest, policy: CachePolicy, options: RequestOptions, writesMemoryOnly: Bool,
    from answers: AnswerMaker
  ) async throws(CacheError) -> CachedFile? {
    guard request.method == .get,
      let answer = try answers.stored(
        for: request.unconditional(keepsRange: false), policy: policy, options: options),
      let stored = answer.body.source.stored,
      writesMemoryOnly
        || (!answers.shelf.store.isSealed && (directory == nil || !answer.isMemoryOnly))
    else { return nil }
    let length = stored.range.upperBound
    do throws(CacheError) { try await check(stored.reader, length: length) } catch {
      // Damaged or gone: treat it as not stored.
      observers.tell(.storeFailed(operation: "read body", error))
      answers.takeBack(CacheCounts(hits: 1, hitBytes: length))
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
    if let current = folder.withLock({ $0 }) { return current }
    let made = try makeHandout()
    return folder.withLock { current in
      if let current { return current }
      current = made
      return made
    }
  }

  private func makeHandout() throws(CacheError) -> FileHandout {
    if let directory = directory {
      do throws(CacheError) { return try FileHandout(in: directory) } catch {
        observers.tell(.storeFailed(operation: "make files", error))
      }
    }
    return try FileHandout.temporary()
  }
}

import HTTPCacheDisk
import HTTPCacheLibC
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
  private let held = Mutex<[Content: Held]>([:])

  /// A stored body, and the extension of its file.
  private struct Content: Hashable {
    let key: CacheKey
    let sequence: UInt64
    let length: Int64
    let suffix: String
  }

  /// The file of a body, as long as a caller holds it.
  private struct Held {
    weak var name: HandedOutName?
  }

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
        || (!answers.shelf.localStore.isSealed && (directory == nil || answer.record?.isMemoryOnly != true))
    else { return nil }
    let length = stored.range.upperBound
    do throws(CacheError) { try await check(stored.reader, length: length) } catch {
      // Damaged or gone: treat it as not stored.
      observers.tell(.storeFailed(operation: "read body", error))
      answers.takeBack(CacheCounts(hits: 1, hitBytes: length))
      return nil
    }
    let suffix = FileExtension.of(answer.head.headerFields)
    let content = answer.record.map {
      Content(key: $0.key, sequence: $0.sequence, length: length, suffix: suffix)
    }
    if let content, let name = heldName(of: content) {
      return CachedFile(name, length: length, answer: answer)
    }
    let name =
      String(UInt64.random(in: .min ... .max), radix: 36)
      + String(UInt64.random(in: .min ... .max), radix: 36) + suffix
    let handout = try currentHandout()
    if stored.reader.fileRegion.map({ handout.link($0.descriptor, as: name) }) != true {
      try await stored.reader.clone(to: handout.path(of: name))
    }
    let made = HandedOutName(name, in: handout)
    return CachedFile(content.map { hold(made, of: $0) } ?? made, length: length, answer: answer)
  }

  /// The file that a caller holds, unless its name was removed.
  private func heldName(of content: Content) -> HandedOutName? {
    guard let name = held.withLock({ $0[content]?.name }), access(name.path, R_OK) == 0 else { return nil }
    return name
  }

  /// Keeps in mind that a caller holds a file.
  ///
  /// - Returns: the file to hand out: another call may have made one meanwhile.
  private func hold(_ made: HandedOutName, of content: Content) -> HandedOutName {
    if let other = heldName(of: content) { return other }
    held.withLock { held in
      held = held.filter { $0.value.name != nil }
      held[content] = Held(name: made)
    }
    return made
  }

  /// Reads a body that is about to be handed out, unless all its blocks were checked already.
  private func check(_ reader: any BodyReader, length: Int64) async throws(CacheError) {
    guard let region = reader.fileRegion, !region.isVerified else { return }
    try await reader.readPieces(of: 0..<length) { _ in }
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

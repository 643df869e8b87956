public import HTTPCacheSemantics
public import HTTPCacheStore

extension SealedStore {
  /// How a selection is found in the store below.
  private enum Search {
    /// By another selection.
    case selection(CacheSelection)
    /// By opening the records that another selection finds.
    case opening(CacheSelection)
  }

  private func search(_ selection: CacheSelection) -> Search {
    switch selection {
    case .all, .storedSince, .unusedSince, .storedBefore: .selection(selection)
    case .partition(let mode, let name):
      .selection(.partition(mode: mode, names.partition(name)))
    case .site(let origin, let mode, let partition):
      .selection(
        .site(origin: names.origin(origin), mode: mode, partition: names.partition(partition)))
    case .key(let key): .selection(.key(names.key(key)))
    case .variant(let key, let sequence): .selection(.variant(names.key(key), sequence: sequence))
    case .target(let target): .selection(.target(names.target(target)))
    case .group(let origin, let name):
      .selection(.group(origin: names.origin(origin), name: names.group(name, of: origin)))
    case .prefix(let prefix): search(prefix: prefix)
    }
  }

  // A whole origin has a prefix in the store below. Digests cannot match any other prefix.
  private func search(prefix: String) -> Search {
    if prefix.isEmpty { return .selection(.prefix(names.prefix)) }
    let origin = CacheKey.origin(of: prefix)
    // A prefix that ends within the authority may match a longer authority.
    guard !origin.isEmpty, origin.utf8.count < prefix.utf8.count else {
      return .opening(.prefix(names.prefix))
    }
    let below = CacheSelection.prefix(names.origin(origin) + "/")
    if prefix == origin + "/" { return .selection(below) }
    let isQuery = prefix.utf8.dropFirst(origin.utf8.count).first != UInt8(ascii: "/")
    return .opening(isQuery ? .prefix(names.origin(origin) + "?") : below)
  }

  /// Removes the entries that match. `.all` also removes entries sealed under other keys.
  ///
  /// The store below cannot match a prefix that is longer than an origin: all entries of the origin are
  /// marked as invalidated at once, then their records are opened, and those that match are removed.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    switch search(selection) {
    case .selection(let below): return try await base.remove(below)
    case .opening(let below):
      try await base.invalidate(below)
      return try await removeOpened(below, matching: selection)
    }
  }

  /// Invalidates the entries that match, or ends their lifetime. `.all` also marks entries sealed under other keys; a
  /// prefix that is longer than an origin marks all entries of the origin.
  ///
  /// - Returns: the number of responses that match; nil if the base does not count, or may have marked more.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    switch search(selection) {
    case .selection(let below): return try await base.mark(below, as: mark)
    case .opening(let below):
      try await base.mark(below, as: mark)
      return nil
    }
  }

  private func removeOpened(
    _ below: CacheSelection, matching selection: CacheSelection
  ) async throws(CacheError) -> Int {
    var count = 0
    try await base.forEachEntry(below) { (entry) async throws(CacheError) in
      guard let opened = open(entry),
        selection.matches(opened.record, lastUsed: entry.lastUsed)
      else { return }
      count += try await base.remove(.variant(entry.record.key, sequence: entry.record.sequence))
    }
    return count
  }

  /// The entries that match and open with this key. None has a path, because its file is sealed.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let below: CacheSelection
    switch search(selection) {
    case .selection(.all): below = .prefix(names.prefix)
    case .selection(let found), .opening(let found): below = found
    }
    let limit = max(1, limit)
    var entries: [CacheEntry] = []
    var cursor = cursor
    repeat {
      let page = try await base.entries(below, after: cursor, limit: limit - entries.count)
      entries += page.entries.compactMap(open).filter {
        selection.matches($0.record, lastUsed: $0.lastUsed)
      }
      cursor = page.next
    } while cursor != nil && entries.count < limit
    return EntryPage(entries: entries, next: cursor)
  }

  private func open(_ entry: CacheEntry) -> CacheEntry? {
    guard entry.record.key.target.utf8.starts(with: names.prefix.utf8) else { return nil }
    do throws(CacheError) {
      guard let opened = try SealedRecord.open(entry.record, cipher: cipher, names: names) else { return nil }
      return entry.with(record: opened.record, bodyPath: nil)
    } catch {
      isDamaged(entry.record, error)
      return nil
    }
  }

  /// Wipes the partition in the base. The empty partition includes entries sealed under other keys.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await base.wipe(mode: mode, partition: names.partition(partition))
  }
}

extension SealedStore {
  private static let pieceLength = 1_000
  // Question, answer and section of each step that the base keeps.
  private static let mostPieces = 3 * RefusalCodec.mostSteps

  /// Remembers, sealed in the base, why a response was not stored. Texts of a long explanation are cut more
  /// than in other stores.
  public func note(_ refusal: RefusalNote) {
    let key = names.key(Self.noteKey(refusal.key))
    var writer = BinaryWriter()
    writer.signed(Int64(refusal.status))
    let room = Self.mostPieces * Self.pieceLength / 4 * 3 - cipher.overhead - writer.output.count
    let content = writer.output + RefusalCodec.encode(refusal.explanation, within: room)
    guard let sealed = try? cipher.seal(content, for: .record, context: Self.context(key)) else {
      return
    }
    let text = Array(Base64.encodeURL(sealed).utf8)
    let pieces = stride(from: 0, to: text.count, by: Self.pieceLength).map { start in
      String(decoding: text[start..<min(text.count, start + Self.pieceLength)], as: UTF8.self)
    }
    func piece(_ index: Int) -> String { pieces.indices.contains(index) ? pieces[index] : "" }
    let steps = stride(from: 0, to: pieces.count, by: 3).map { index in
      CacheExplanation.Step(piece(index), piece(index + 1), section: piece(index + 2))
    }
    base.note(
      RefusalNote(
        key: key, time: refusal.time, status: 0,
        explanation: CacheExplanation(steps: steps)))
  }

  /// Why responses of a key were not stored, latest first. Skips notes that do not open.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    let below = names.key(Self.noteKey(key))
    return try base.refusals(of: below).compactMap { note in
      let text = note.explanation.steps.map { $0.question + $0.answer + $0.section }.joined()
      guard let sealed = Base64.url.decode(text.utf8),
        let content = try? cipher.open(sealed, for: .record, context: Self.context(below))
      else { return nil }
      return content.withUnsafeBytes { buffer in
        var reader = BinaryReader(buffer)
        guard let status = try? reader.signed() else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: buffer[(buffer.count - reader.remaining)...])
        guard let explanation = try? RefusalCodec.decode(rest) else { return nil }
        return RefusalNote(
          key: key, time: note.time, status: Int(clamping: status), explanation: explanation)
      }
    }
  }

  // Different from the key of a stored response, so that a reader of the directory cannot see which response
  // a note is about.
  private static func noteKey(_ key: CacheKey) -> CacheKey { key.with(target: "refusal:" + key.target) }

  private static func context(_ key: CacheKey) -> [UInt8] { [4] + Array(key.target.utf8) }
}

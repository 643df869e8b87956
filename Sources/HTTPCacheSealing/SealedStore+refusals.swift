public import HTTPCacheSemantics
public import HTTPCacheStore

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
    let text = Array(Base64URL.encode(sealed).utf8)
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
  ///
  /// - Throws: what the base throws.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    let below = names.key(Self.noteKey(key))
    return try base.refusals(of: below).compactMap { note in
      let text = note.explanation.steps.map { $0.question + $0.answer + $0.section }.joined()
      guard let sealed = Base64URL.decode(text.utf8),
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

import HTTPCacheSemantics

extension FrequencySketch {
  private static let magic: UInt64 = 0x3271_7266_6863_7468
  private static let headerWords = 5

  /// The longest encoding in bytes.
  package static let longestEncoding = 8 * (mostWords + headerWords + 1)

  /// Bytes of the counters.
  package var byteCount: Int { 8 * words.count }

  /// The sketch as bytes, with a checksum, so that another process can continue it.
  ///
  /// - Parameters:
  ///   - writer: a number that identifies the writing process.
  ///   - secretMark: a number that identifies the secret that keys were hashed under.
  package func encoded(by writer: UInt64, secretMark: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * (words.count + Self.headerWords + 1))
    func append(_ word: UInt64) {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    for word in [Self.magic, writer, secretMark, UInt64(uses), UInt64(words.count)] { append(word) }
    for word in words { append(word) }
    append(bytes.withUnsafeBytes { XXH64.hash($0) })
    return bytes
  }

  /// Decodes what `encoded` made.
  ///
  /// - Returns: the sketch and its writer; nil for damaged bytes, a size that no sketch has, or keys that were
  ///   hashed under another secret.
  package static func decode(
    _ bytes: [UInt8], secretMark: UInt64
  ) -> (sketch: FrequencySketch, writer: UInt64)? {
    let wordCount = bytes.count / 8 - headerWords - 1
    guard bytes.count % 8 == 0, (leastWords...mostWords).contains(wordCount),
      wordCount & (wordCount - 1) == 0
    else { return nil }
    return bytes.withUnsafeBytes { buffer in
      func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      }
      let last = wordCount + headerWords
      guard word(0) == magic, word(2) == secretMark, word(4) == UInt64(wordCount),
        XXH64.hash(UnsafeRawBufferPointer(rebasing: buffer[..<(8 * last)])) == word(last)
      else { return nil }
      var sketch = FrequencySketch(expectedEntries: 0)
      sketch.replace(words: (headerWords..<last).map(word), uses: Int(clamping: word(3)))
      return (sketch, word(1))
    }
  }
}

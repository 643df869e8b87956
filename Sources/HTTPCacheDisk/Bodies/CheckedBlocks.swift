import Synchronization

/// The blocks of a body file whose checksums were found correct.
final class CheckedBlocks: Sendable {
  // One bit for each block.
  private let words = Mutex<[UInt64]>([])

  /// Whether each of these blocks was checked.
  func contains(_ blocks: Range<Int>) -> Bool {
    words.withLock { words in
      guard blocks.upperBound <= words.count * 64 else { return blocks.isEmpty }
      return Self.masks(of: blocks).allSatisfy { words[$0.word] & $0.mask == $0.mask }
    }
  }

  func insert(_ blocks: Range<Int>) {
    words.withLock { words in
      let missing = (blocks.upperBound + 63) / 64 - words.count
      if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
      for (word, mask) in Self.masks(of: blocks) { words[word] |= mask }
    }
  }

  private static func masks(
    of blocks: Range<Int>
  ) -> some Sequence<(word: Int, mask: UInt64)> {
    (blocks.lowerBound / 64..<(blocks.upperBound + 63) / 64).lazy.map { word in
      let bits = blocks.clamped(to: word * 64..<word * 64 + 64)
      let ones = UInt64.max >> UInt64(64 - bits.count)
      return (word, bits.isEmpty ? 0 : ones << UInt64(bits.lowerBound - word * 64))
    }
  }
}

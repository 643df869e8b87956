import Synchronization

/// The blocks of a body file whose checksums were found correct.
package final class CheckedBlocks: Sendable {
  // Whether each block was checked.
  private let blocks = Mutex<[Bool]>([])

  package init() {}

  /// Whether each of these blocks was checked.
  package func contains(_ range: Range<Int>) -> Bool {
    blocks.withLock { blocks in
      range.isEmpty || range.upperBound <= blocks.count && blocks[range].allSatisfy { $0 }
    }
  }

  package func insert(_ range: Range<Int>) {
    blocks.withLock { blocks in
      let missing = range.upperBound - blocks.count
      if missing > 0 { blocks.append(contentsOf: repeatElement(false, count: missing)) }
      for block in range { blocks[block] = true }
    }
  }
}

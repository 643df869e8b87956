import Foundation
import HTTPCaching

/// Bytes that have arrived and are unread.
struct ReceiveBuffer {
  private struct Piece {
    let block: ReceiveBlock
    var start: Int
    var end: Int
  }

  private var pieces: [Piece] = []
  /// The block of the last piece, which may have space left after that was read.
  private var filling: Piece?
  /// The number of unread bytes.
  private(set) var count = 0

  /// Adds a copy of bytes.
  ///
  /// - Parameter expected: the number of bytes including these; nil if unknown.
  mutating func append(_ data: Data, expected: Int64?) {
    var rest = data[...]
    while !rest.isEmpty {
      var piece = filling ?? newPiece(for: rest.count, of: expected)
      if piece.end == piece.block.bytes.count { piece = newPiece(for: rest.count, of: expected) }
      let part = rest.prefix(piece.block.bytes.count - piece.end)
      part.copyBytes(
        to: UnsafeMutableRawBufferPointer(rebasing: piece.block.bytes[piece.end...]))
      rest = rest.dropFirst(part.count)
      count += part.count
      piece.end += part.count
      if let last = pieces.indices.last, pieces[last].block === piece.block {
        pieces[last].end = piece.end
      } else {
        pieces.append(piece)
      }
      piece.start = piece.end
      filling = piece
    }
  }

  /// Takes the first contiguous bytes; nil if there are none.
  mutating func take() -> BodyBytes? {
    guard !pieces.isEmpty else { return nil }
    let piece = pieces.removeFirst()
    count -= piece.end - piece.start
    return BodyBytes(
      unsafeBytes: UnsafeRawBufferPointer(rebasing: piece.block.bytes[piece.start..<piece.end]),
      keepingAlive: piece.block)
  }

  mutating func removeAll() { self = ReceiveBuffer() }

  /// Releases space that is no longer needed.
  mutating func end() { filling = nil }

  private func newPiece(for size: Int, of expected: Int64?) -> Piece {
    let capacity = expected.map { Int(clamping: $0) } ?? max(size, ReceiveBlock.size / 4)
    return Piece(block: ReceiveBlock(capacity: max(capacity, size)), start: 0, end: 0)
  }
}

extension BodyBytes {
  /// Copies bytes.
  init(_ data: Data) {
    self.init(unsafeUninitializedCapacity: data.count) { buffer in
      data.copyBytes(to: buffer)
      return data.count
    }
  }
}

import HTTPCacheFiles
import HTTPCaching

/// Bytes that have arrived and are unread: the first of them in memory, the rest in a file if that is allowed.
struct ReceiveBuffer {
  /// The unread bytes in memory from which on further bytes go to the file.
  static let memoryLimit = 2 << 20

  private struct Spill {
    let file: SpillFile
    var start: Int64 = 0
    var end: Int64 = 0
  }

  private struct Piece {
    let block: ReceiveBlock
    var start: Int
    var end: Int
  }

  private var pieces: [Piece] = []
  /// The block of the last piece, which may have space left after that was read.
  private var filling: Piece?
  /// Whether bytes may go to a file.
  var maySpill = false
  private var spill: Spill?
  /// The number of unread bytes in memory.
  private(set) var countInMemory = 0

  /// The number of unread bytes.
  var count: Int { countInMemory + (spill.map { Int($0.end - $0.start) } ?? 0) }

  /// Adds a copy of bytes.
  ///
  /// - Parameter expected: the number of bytes including these; nil if unknown.
  /// - Throws: `POSIXError` if the file takes no more bytes.
  mutating func append(_ data: Data, expected: Int64?) throws {
    if countInMemory < count || (maySpill && countInMemory >= Self.memoryLimit) {
      guard try !appendToFile(data) else { return }
    }
    appendToMemory(data, expected: expected)
  }

  /// - Returns: whether there is a file.
  private mutating func appendToFile(_ data: Data) throws -> Bool {
    if spill == nil {
      do { spill = Spill(file: try SpillFile.temporary()) } catch {
        maySpill = false
        return false
      }
    }
    guard let spill else { return false }
    try data.withUnsafeBytes { try spill.file.write($0, at: spill.end) }
    self.spill?.end += Int64(data.count)
    return true
  }

  private mutating func appendToMemory(_ data: Data, expected: Int64?) {
    var rest = data[...]
    while !rest.isEmpty {
      var piece = filling ?? newPiece(for: rest.count, of: expected)
      if piece.end == piece.block.bytes.count { piece = newPiece(for: rest.count, of: expected) }
      let part = rest.prefix(piece.block.bytes.count - piece.end)
      part.copyBytes(
        to: UnsafeMutableRawBufferPointer(rebasing: piece.block.bytes[piece.end...]))
      rest = rest.dropFirst(part.count)
      countInMemory += part.count
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
  ///
  /// - Throws: `POSIXError` if the file cannot be read.
  mutating func take() throws -> BodyBytes? {
    guard !pieces.isEmpty else { return try takeFromFile() }
    let piece = pieces.removeFirst()
    countInMemory -= piece.end - piece.start
    return BodyBytes(
      unsafeBytes: UnsafeRawBufferPointer(rebasing: piece.block.bytes[piece.start..<piece.end]),
      keepingAlive: piece.block)
  }

  private mutating func takeFromFile() throws -> BodyBytes? {
    guard let spill, spill.start < spill.end else { return nil }
    let length = Int(min(spill.end - spill.start, Int64(ReceiveBlock.size)))
    let block = ReceiveBlock(capacity: length)
    let count = try spill.file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<length]), at: spill.start)
    guard count == length else { throw POSIXError(.EIO) }
    if spill.start + Int64(length) == spill.end {
      spill.file.truncate(to: 0)
      self.spill?.start = 0
      self.spill?.end = 0
    } else {
      self.spill?.start += Int64(length)
    }
    return BodyBytes(
      unsafeBytes: UnsafeRawBufferPointer(rebasing: block.bytes[..<length]), keepingAlive: block)
  }

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

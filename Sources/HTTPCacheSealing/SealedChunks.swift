import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The chunks of a sealed body, opened as they are read. The last chunk read stays open, because the next
/// read often begins in it.
final class SealedChunks: Sendable {
  private struct Open: Sendable {
    let index: Int64
    let bytes: BodyBytes
  }

  // Sixteen slots: a MiB.
  private static let most: Int64 = 16

  private let base: any BodyReader
  private let bodyID: SealedRecord.BodyID
  private let cipher: any CacheCipher
  private let layout: SealedLayout
  private let onDamage: @Sendable (CacheError) -> Void
  private let last = Mutex<Open?>(nil)

  init(
    _ base: any BodyReader, of bodyID: SealedRecord.BodyID, cipher: any CacheCipher,
    onDamage: @escaping @Sendable (CacheError) -> Void
  ) {
    self.base = base
    self.bodyID = bodyID
    self.cipher = cipher
    layout = SealedLayout(cipher)
    self.onDamage = onDamage
  }

  /// Reads a non-empty range of stored bytes.
  ///
  /// - Parameter length: the length of the body, if known.
  /// - Throws: `CacheError.damaged`, `CacheError.io`.
  func read(_ range: Range<Int64>, length: Int64?) async throws(CacheError) -> BodyBytes {
    var pieces: [BodyBytes] = []
    var index = range.lowerBound / layout.chunk
    let end = (range.upperBound - 1) / layout.chunk + 1
    while index < end {
      let open = last.withLock { $0 }
      let bytes: BodyBytes
      let count: Int64
      if let open, open.index == index {
        (bytes, count) = (open.bytes, 1)
      } else {
        count = min(end - index, Self.most)
        bytes = try await chunks(index..<index + count, length: length)
      }
      let start = index * layout.chunk
      let wanted = range.clamped(to: start..<start + Int64(bytes.count))
      pieces.append(bytes[Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)])
      index += count
    }
    return BodyBytes(joining: pieces)
  }

  /// Opens the chunk of an empty body.
  func checkEmpty() async throws(CacheError) { _ = try await chunks(0..<1, length: 0) }

  private func chunks(_ chunks: Range<Int64>, length: Int64?) async throws(CacheError) -> BodyBytes {
    let slots = layout.slots(of: chunks, length: length)
    let sealed = try await base.read(slots)
    guard sealed.count == slots.count else {
      throw damaged("sealed: chunk \(chunks.lowerBound) ends early")
    }
    let bytes = try open(
      sealed, from: chunks.lowerBound, count: chunks.upperBound - chunks.lowerBound, length: length)
    let index = chunks.upperBound - 1
    let place = layout.bytes(of: index, length: length)
    // A slice would keep all chunks alive.
    let tail = bytes.dropFirst(bytes.count - place.count)
    let kept = chunks.count == 1 ? bytes : tail.withUnsafeBytes { BodyBytes($0) }
    last.withLock { $0 = Open(index: index, bytes: kept) }
    return bytes
  }

  /// Opens consecutive chunks.
  ///
  /// - Throws: `CacheError.damaged`.
  func open(
    _ sealed: BodyBytes, from first: Int64, count: Int64, length: Int64?
  ) throws(CacheError) -> BodyBytes {
    let overhead = layout.overhead
    guard sealed.count >= overhead * Int(count) else { throw damaged("sealed: too few bytes") }
    do throws(CacheError) {
      return try BodyBytes(unsafeUninitializedCapacity: sealed.count - overhead * Int(count)) {
        (output) throws(CacheError) -> Int in
        try sealed.withUnsafeBytes { (input) throws(CacheError) in
          try open(input, into: output, chunks: first..<first + count, length: length)
        }
      }
    } catch {
      onDamage(error)
      throw error
    }
  }

  /// Opens chunks one after the other.
  ///
  /// - Returns: the number of bytes written to `output`.
  private func open(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, chunks: Range<Int64>,
    length: Int64?
  ) throws(CacheError) -> Int {
    let overhead = layout.overhead
    var (from, to) = (0, 0)
    for index in chunks {
      let size = min(input.count - from, Int(SealedLayout.slot))
      guard size >= overhead, to + size - overhead <= output.count else {
        throw CacheError(.damaged, "sealed: chunk \(index) has \(size) bytes")
      }
      let isLast = layout.isLast(index, length: length)
      try cipher.open(
        UnsafeRawBufferPointer(rebasing: input[from..<from + size]), for: .body,
        context: SealedRecord.context(chunk: index, isLast: isLast, of: bodyID),
        into: UnsafeMutableRawBufferPointer(rebasing: output[to..<to + size - overhead]))
      from += size
      to += size - overhead
    }
    return to
  }

  private func damaged(_ message: String) -> CacheError {
    let error = CacheError(.damaged, message)
    onDamage(error)
    return error
  }
}

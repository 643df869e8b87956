import HTTPCacheFiles
import HTTPCacheStore

/// Reads a body, also while it is being written.
final class DiskBodyReader: BodyReader {
  private let body: DiskBody
  private let queue: WorkQueue
  private let onDamage: @Sendable (CacheError) -> Void

  init(body: DiskBody, queue: WorkQueue, onDamage: @escaping @Sendable (CacheError) -> Void) {
    self.body = body
    self.queue = queue
    self.onDamage = onDamage
  }

  var length: Int64? { body.snapshot.length }

  var availableRanges: [Range<Int64>] { body.snapshot.ranges }

  var bytesInMemory: BodyBytes? {
    let state = body.snapshot
    guard state.isComplete, state.file == nil else { return nil }
    return state.pendingBytes(0..<state.count)
  }

  var fileRegion: FileRegion? {
    let state = body.snapshot
    guard state.isComplete, let file = state.file else { return nil }
    return FileRegion(
      descriptor: file.file.descriptor, offset: 0, count: state.count,
      isVerified: file.isVerified(0..<state.count))
  }

  func isVerified(_ range: Range<Int64>) -> Bool {
    let state = body.snapshot
    guard state.isComplete, let file = state.file, range.lowerBound >= 0, range.upperBound <= state.count
    else { return false }
    return file.isVerified(range)
  }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    var slices: [BodyBytes] = []
    var position = range.lowerBound
    do throws(CacheError) {
      while position < range.upperBound {
        let state = body.snapshot
        var bytes = state.pendingBytes(position..<range.upperBound)
        if bytes.isEmpty, let file = state.file {
          let stored = state.fileRange(from: position).clamped(to: range)
          guard !stored.isEmpty else { break }
          bytes = try await file.read(stored, on: queue)
        }
        guard !bytes.isEmpty else { break }
        slices.append(bytes)
        position += Int64(bytes.count)
      }
    } catch { throw reported(error) }
    return BodyBytes(joining: slices)
  }

  func clone(to path: String) async throws(CacheError) {
    let state = body.snapshot
    guard state.isComplete else {
      throw CacheError(.unavailable, "the body is not complete, so it cannot be cloned")
    }
    do throws(CacheError) {
      let isCopied = try await queue.run { () throws(CacheError) in
        guard let file = state.file else { return false }
        if !file.isVerified(0..<state.count) { try file.checkAll() }
        return try file.file.copy(to: path, length: state.count)
      }
      if isCopied { return }
    } catch { throw reported(error) }
    try await writeFile(at: path, length: state.count)
  }

  private func reported(_ error: CacheError) -> CacheError {
    if error.code == .damaged { onDamage(error) }
    return error
  }
}

import HTTPCacheFiles
import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// Passes the body of a response on, and keeps a copy until it has come whole, within the limit of the recording.
final class RecordedBodySource: BodySource {
  private struct Copy {
    var file: CacheFile?
    var length: Int64 = 0
  }

  private let source: any BodySource
  private let entry: HAREntry
  private let recorder: HARRecorder
  private let copy: Mutex<Copy>

  /// - Parameters:
  ///   - file: an empty file for the copy.
  ///   - entry: the exchange, which is recorded when the body has come whole.
  init(_ source: any BodySource, copy file: CacheFile, of entry: HAREntry, to recorder: HARRecorder) {
    self.source = source
    self.entry = entry
    self.recorder = recorder
    copy = Mutex(Copy(file: file))
  }

  deinit { drop() }

  var length: Int64? { source.length }

  func next() async throws -> BodyBytes? {
    guard let bytes = try await source.next() else {
      let (file, length) = copy.withLock { ($0.file.take(), $0.length) }
      if let file { recorder.add(entry, body: file, length: length) }
      return nil
    }
    // A copy that cannot be written is not recorded; the caller gets its bytes.
    if !keep(bytes) { drop() }
    return bytes
  }

  var trailers: HTTPFields { source.trailers }

  func cancel() {
    drop()
    source.cancel()
  }

  private func keep(_ bytes: BodyBytes) -> Bool {
    copy.withLock { copy in
      guard let file = copy.file else { return true }
      guard recorder.reserve(Int64(bytes.count)) else { return false }
      copy.length += Int64(bytes.count)
      do throws(CacheError) { try file.write(bytes) } catch { return false }
      return true
    }
  }

  /// Forgets the copy of a body that is not recorded.
  private func drop() {
    copy.withLock { copy in
      guard copy.file.take() != nil else { return }
      recorder.release(copy.length)
    }
  }
}

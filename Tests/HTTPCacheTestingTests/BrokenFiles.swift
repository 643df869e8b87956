import HTTPCacheStore
import HTTPCacheTesting
import Synchronization

/// The bodies of a store in memory, in files as well.
final class BrokenFiles: Sendable {
  private let folder: ScratchFolder
  private let isHalf: Bool
  private let made = Mutex<Set<UInt64>>([])

  /// - Parameter half: leaves out the end of each body.
  init(half: Bool) throws(CacheError) {
    folder = try ScratchFolder()
    isHalf = half
  }

  /// The file of a body; nil if not all of it is stored.
  func file(of variant: StoredVariant) -> ScratchFile? {
    guard let bytes = try? variant.body.open().bytesInMemory else { return nil }
    let sequence = variant.record.sequence
    let file = folder.file("\(sequence)")
    made.withLock { made in
      guard made.insert(sequence).inserted else { return }
      file.write(isHalf ? bytes.prefix(bytes.count / 2).array : bytes.array)
    }
    return file
  }

  /// Removes the file of a body.
  func remove(_ record: CacheRecord) { folder.remove("\(record.sequence)") }
}

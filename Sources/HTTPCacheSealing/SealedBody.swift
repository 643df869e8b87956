import HTTPCacheStore

final class SealedBody: StoredBody {
  private let base: any StoredBody
  private let opened: SealedRecord
  private let below: CacheRecord
  private let store: SealedStore

  init(
    _ base: any StoredBody, of opened: SealedRecord, below: CacheRecord, _ store: SealedStore
  ) {
    self.base = base
    self.opened = opened
    self.below = below
    self.store = store
  }

  func open() throws(CacheError) -> any BodyReader {
    let reader = try base.open()
    let record = opened.record
    let (store, below) = (store, below)
    let chunks = SealedChunks(reader, of: opened.bodyID, cipher: store.cipher) { error in
      store.isDamaged(below, error)
    }
    // Open a body of one chunk that is in memory at once: a hit then needs no suspension.
    var bytes: BodyBytes?
    if record.isComplete, let length = record.bodyLength, length <= store.layout.chunk,
      let sealed = reader.bytesInMemory
    {
      bytes = try chunks.open(sealed, from: 0, count: 1, length: length)
    }
    return SealedReader(
      chunks, length: record.bodyLength,
      ranges: record.storedRanges ?? [0..<(record.bodyLength ?? 0)], bytes: bytes)
  }
}

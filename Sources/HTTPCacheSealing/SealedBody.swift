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
    if record.isComplete, let length = record.bodyLength, length <= store.layout.chunk,
      let sealed = reader.bytesInMemory
    {
      return MemoryBody(try chunks.open(sealed, from: 0, count: 1, length: length), record: record)
    }
    let stored = record.storedRanges ?? [0..<(record.bodyLength ?? 0)]
    return SealedReader(SealedGrowth(stored: stored, length: record.bodyLength), chunks)
  }
}

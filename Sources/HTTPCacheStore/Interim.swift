public import HTTPCacheSemantics

extension CacheStore {
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    throw CacheError(.unavailable, "this store does not extend", key: record.key)
  }
  public func note(_ refusal: RefusalNote) {}
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { [] }
}

extension BodyWriter {
  public func keep() async throws(CacheError) -> CacheRecord? {
    abandon()
    return nil
  }
}

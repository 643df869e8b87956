extension CacheResponse {
  /// Whether the answer came from content that ships with the program (`HTTPCache.Configuration.seeds`), or from a
  /// copy of such content that the origin has confirmed. `storedAt` tells when the content was received from
  /// the origin, or last confirmed.
  public var isFromSeed: Bool { record?.isSeed ?? false }
}

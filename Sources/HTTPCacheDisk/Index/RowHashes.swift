import HTTPCacheSemantics
import HTTPCacheStore

/// The hashes that lead to rows and to the counters shared with other processes. They are keyed with the
/// secret of the directory, so that no client can choose keys that share a hash.
struct RowHashes: Sendable {
  private let keys: SipHash13.Secret
  private let variants: SipHash13.Secret

  /// - Parameter secret: the 32 bytes of the directory's secret: 16 for keys, 16 for variants.
  init(secret: [UInt8]) {
    keys = SipHash13.Secret(secret.prefix(16))
    variants = SipHash13.Secret(secret.dropFirst(16))
  }

  /// The hash of a key.
  func hash(of key: CacheKey) -> UInt64 { key.hash(under: keys) }

  /// The hash of a variant, given as the bytes that `RecordCodec.variant(of:)` returns.
  func hash(ofVariant variant: [UInt8]) -> UInt64 { SipHash13.hash(variant, variants) }

  /// The hash of a record's variant.
  func variantHash(of record: CacheRecord) -> UInt64 { hash(ofVariant: RecordCodec.variant(of: record)) }
}

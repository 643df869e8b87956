import HTTPCacheSemantics
import HTTPCacheStore

/// The hashes by which rows are found, and counters shared with other processes: keyed by the secret of the
/// directory, so that no client can choose keys that share one.
struct RowHashes: Sendable {
  private let keys: SipHash13.Secret
  private let variants: SipHash13.Secret

  /// - Parameter secret: that of the directory, 32 bytes: half of them for keys, half of them for variants.
  init(secret: [UInt8]) {
    keys = SipHash13.Secret(secret.prefix(16))
    variants = SipHash13.Secret(secret.dropFirst(16))
  }

  /// The hash of a key.
  func hash(of key: CacheKey) -> UInt64 { key.hash(under: keys) }

  /// The hash of a variant, as `RecordCodec.variant(of:)` has it.
  func hash(ofVariant variant: [UInt8]) -> UInt64 { SipHash13.hash(variant, variants) }

  /// The hash of the variant that a record is of.
  func variantHash(of record: CacheRecord) -> UInt64 { hash(ofVariant: RecordCodec.variant(of: record)) }
}

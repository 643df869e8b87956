extension CacheKey {
  /// The secret of this process, drawn from Swift's own hashing: random, but constant with
  /// `SWIFT_DETERMINISTIC_HASHING`, so that a simulation can be repeated.
  static let processSecret: SipHash13.Secret = {
    func word(_ number: Int) -> UInt64 {
      var hasher = Hasher()
      hasher.combine(number)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
    return SipHash13.Secret(low: word(0), high: word(1))
  }()

  /// SipHash-1-3 of the key: target, 0xFF, partition, 0xFF, content digest, mode, method class. UTF-8 never
  /// contains 0xFF, and the fields after the digest have a fixed length, so different keys never give the
  /// same bytes.
  ///
  /// - Parameter secret: unknown to clients.
  package func hash(under secret: SipHash13.Secret) -> UInt64 {
    Self.hash(mode, partition, methodClass, target, contentDigest, under: secret)
  }

  static func hash(
    _ mode: CacheMode, _ partition: String, _ methodClass: MethodClass, _ target: String,
    _ contentDigest: [UInt8], under secret: SipHash13.Secret
  ) -> UInt64 {
    var hash = SipHash13(secret)
    append(target, to: &hash)
    append(partition, to: &hash)
    if !contentDigest.isEmpty { contentDigest.withUnsafeBytes { hash.append($0) } }
    hash.append(mode.rawValue)
    hash.append(methodClass.rawValue)
    return hash.finish()
  }

  private static func append(_ text: String, to hash: inout SipHash13) {
    if !text.isEmpty {
      var text = text
      text.withUTF8 { hash.append(UnsafeRawBufferPointer($0)) }
    }
    hash.append(0xFF)
  }
}

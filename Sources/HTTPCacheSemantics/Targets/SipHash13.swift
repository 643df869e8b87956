/// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", with one round for each word and
/// three at the end): the hash of keys.
///
/// Without the secret, a client cannot find two inputs with equal hashes faster than by chance, as long as it
/// never sees hashes.
package struct SipHash13: Sendable {
  /// Makes the results unpredictable: 16 random bytes, as two words.
  package struct Secret: Sendable {
    let low: UInt64
    let high: UInt64

    /// Makes a secret of two random words.
    package init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }

    /// Makes a secret of 16 bytes, least significant first; missing bytes are 0.
    package init(_ bytes: some Collection<UInt8>) {
      func word(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
      }
      self.init(low: word(bytes), high: word(bytes.dropFirst(8)))
    }
  }

  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  // The bytes since the last whole word.
  private var tail: UInt64 = 0
  private var count = 0

  package init(_ secret: Secret) {
    v0 = secret.low ^ 0x736F_6D65_7073_6575
    v1 = secret.high ^ 0x646F_7261_6E64_6F6D
    v2 = secret.low ^ 0x6C79_6765_6E65_7261
    v3 = secret.high ^ 0x7465_6462_7974_6573
  }

  package static func hash(_ bytes: [UInt8], _ secret: Secret) -> UInt64 {
    var hash = SipHash13(secret)
    bytes.withUnsafeBytes { hash.append($0) }
    return hash.finish()
  }

  @inline(__always)
  package mutating func append(_ byte: UInt8) {
    tail |= UInt64(byte) << (UInt64(count & 7) << 3)
    count &+= 1
    if count & 7 == 0 {
      compress(tail)
      tail = 0
    }
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while count & 7 != 0, index < bytes.count {
      append(bytes[index])
      index &+= 1
    }
    while index &+ 8 <= bytes.count {
      compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      index &+= 8
      count &+= 8
    }
    let rest = bytes.count &- index
    // Read the last eight bytes at once, and drop those that were taken already.
    if rest > 0, index >= 8 {
      let last = bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self)
      tail = UInt64(littleEndian: last) &>> UInt64(64 &- 8 &* rest)
      count &+= rest
      return
    }
    while index < bytes.count {
      append(bytes[index])
      index &+= 1
    }
  }

  /// Ends the hash; it takes no more bytes.
  package mutating func finish() -> UInt64 {
    compress(tail | UInt64(truncatingIfNeeded: count) << 56)
    v2 ^= 0xFF
    round()
    round()
    round()
    return v0 ^ v1 ^ v2 ^ v3
  }

  @inline(__always)
  private mutating func compress(_ word: UInt64) {
    v3 ^= word
    round()
    v0 ^= word
  }

  @inline(__always)
  private mutating func round() {
    v0 = v0 &+ v1
    v2 = v2 &+ v3
    v1 = Self.rotate(v1, 13) ^ v0
    v3 = Self.rotate(v3, 16) ^ v2
    v0 = Self.rotate(v0, 32)
    v2 = v2 &+ v1
    v0 = v0 &+ v3
    v1 = Self.rotate(v1, 17) ^ v2
    v3 = Self.rotate(v3, 21) ^ v0
    v2 = Self.rotate(v2, 32)
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    (value << count) | (value >> (64 - count))
  }
}

public import HTTPCacheStore

/// A key of 32 bytes that a cache's directory is encrypted with. It does not show its bytes when it is
/// printed.
public struct EncryptionKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  let bytes: [UInt8]

  /// Takes a key.
  ///
  /// - Parameter bytes: 32 random bytes. A password is no key: derive one from it first.
  /// - Throws: `CacheError.invalidKey` for any other number of bytes.
  public init(_ bytes: some Collection<UInt8>) throws(CacheError) {
    guard bytes.count == 32 else {
      throw CacheError(.invalidKey, "an encryption key has 32 bytes, not \(bytes.count)")
    }
    self.bytes = Array(bytes)
  }

  private init(random bytes: [UInt8]) { self.bytes = bytes }

  /// Makes a random key. Where it is lost, nothing that was stored under it is found again.
  public static func random() -> EncryptionKey {
    var generator = SystemRandomNumberGenerator()
    return EncryptionKey(
      random: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// A copy of the bytes, for whoever has to keep them.
  public var array: [UInt8] { bytes }

  /// Says that it is a key, and nothing of it.
  public var description: String { "an encryption key" }

  /// The same.
  public var debugDescription: String { description }

  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

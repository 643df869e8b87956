public import HTTPCacheStore

/// The 32-byte key that encrypts a cache's directory. Printing it does not show its bytes.
public struct EncryptionKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  let bytes: [UInt8]

  /// Makes a key of bytes.
  ///
  /// - Parameter bytes: 32 random bytes. A password is not a key: derive a key from it first.
  /// - Throws: `CacheError.invalidKey` for any other number of bytes.
  public init(_ bytes: some Collection<UInt8>) throws(CacheError) {
    guard bytes.count == 32 else {
      throw CacheError(.invalidKey, "an encryption key has 32 bytes, not \(bytes.count)")
    }
    self.bytes = Array(bytes)
  }

  private init(random bytes: [UInt8]) { self.bytes = bytes }

  /// Makes a random key. If it is lost, nothing that was stored under it can be read.
  public static func random() -> EncryptionKey { EncryptionKey(random: [UInt8].random(count: 32)) }

  /// A copy of the bytes, to keep in a safe place.
  public var array: [UInt8] { bytes }

  /// Says that this is a key, and shows nothing of it.
  public var description: String { "an encryption key" }

  /// Equal to `description`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

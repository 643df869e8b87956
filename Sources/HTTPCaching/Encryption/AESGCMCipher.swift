#if Crypto
  import Crypto
  import HTTPCacheSealing
  import HTTPCacheStore

  /// AES-256-GCM and HMAC-SHA-256. HKDF-SHA-256 (RFC 5869) derives the keys for records, bodies and digests,
  /// and an identifier, from a key and the secret of a directory.
  struct AESGCMCipher: CacheCipher {
    let keyID: [UInt8]
    /// A nonce of 12 bytes and a tag of 16.
    let overhead = 28
    private let records: SymmetricKey
    private let bodies: SymmetricKey
    private let digests: SymmetricKey

    init(key: EncryptionKey, secret: [UInt8]) {
      func derived(_ purpose: String, count: Int = 32) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: SymmetricKey(data: key.bytes), salt: secret,
          info: Array("swift-http-cache 1 \(purpose)".utf8), outputByteCount: count)
      }
      records = derived("records")
      bodies = derived("bodies")
      digests = derived("digests")
      keyID = derived("identifier", count: 8).withUnsafeBytes { Array($0) }
    }

    func seal(
      _ bytes: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
      into output: UnsafeMutableRawBufferPointer
    ) throws(CacheError) {
      guard output.count == bytes.count + overhead else {
        throw CacheError(.io, "a buffer of \(output.count) bytes for \(bytes.count) bytes to seal")
      }
      do {
        let box = try AES.GCM.seal(bytes, using: key(purpose), authenticating: context)
        guard let combined = box.combined else { throw CacheError(.io, "cannot seal") }
        output.copyBytes(from: combined)
      } catch {
        throw CacheError(.io, "cannot seal", cause: error)
      }
    }

    func open(
      _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
      into output: UnsafeMutableRawBufferPointer
    ) throws(CacheError) {
      guard sealed.count >= overhead, output.count == sealed.count - overhead else {
        throw CacheError(.damaged, "sealed: \(sealed.count) bytes")
      }
      do {
        let box = try AES.GCM.SealedBox(combined: sealed)
        output.copyBytes(from: try AES.GCM.open(box, using: key(purpose), authenticating: context))
      } catch {
        throw CacheError(.damaged, "sealed: it is not what was sealed here", cause: error)
      }
    }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: bytes, using: digests))
    }

    private func key(_ purpose: SealPurpose) -> SymmetricKey {
      switch purpose {
      case .record: records
      case .body: bodies
      }
    }
  }
#endif

#if Redis
  import HTTPCacheSealing
  import HTTPCacheStore

  /// Encrypts what a server keeps, if the tier has a cipher.
  struct RedisSeal: Sendable {
    /// Where sealed bytes belong: in any other place they cannot be opened.
    enum Place {
      case record(digest: [UInt8], field: [UInt8], header: String)
      case part(digest: [UInt8], body: UInt64, number: Int, isLast: Bool)
      case change(uid: String, kind: String)

      var context: [UInt8] {
        var writer = BinaryWriter()
        switch self {
        case .record(let digest, let field, let header):
          writer.byte(1)
          writer.bytes(digest)
          writer.bytes(field)
          writer.text(header)
        case .part(let digest, let body, let number, let isLast):
          writer.byte(2)
          writer.bytes(digest)
          writer.fixed(body)
          writer.count(number)
          writer.byte(isLast ? 1 : 0)
        case .change(let uid, let kind):
          writer.byte(3)
          writer.text(uid)
          writer.text(kind)
        }
        return writer.output
      }

      var purpose: SealPurpose {
        switch self {
        case .record, .change: .record
        case .part: .body
        }
      }
    }

    /// Nil to keep bytes as they are.
    let cipher: (any CacheCipher)?

    func seal(_ bytes: [UInt8], at place: Place) throws(CacheError) -> [UInt8] {
      guard let cipher else { return bytes }
      return try cipher.seal(bytes, for: place.purpose, context: place.context)
    }

    /// - Throws: `CacheError` for bytes that were not sealed at this place.
    func open(_ bytes: [UInt8], at place: Place) throws(CacheError) -> [UInt8] {
      guard let cipher else { return bytes }
      return try cipher.open(bytes, for: place.purpose, context: place.context)
    }
  }
#endif

#if Redis
  import Crypto
  import HTTPCacheSemantics
  import HTTPCacheStore
  import HTTPCaching

  /// The names of keys. All begin with `hc1:NAME:`, the version of the layout and the name of the fleet. The digest of a
  /// cache key is the hash tag of its variants, lock and bodies, so that a cluster keeps them in one slot; without the
  /// fleet's secret it cannot be computed from a URL. Before the digest, a tag tells the partition, for `wipe`.
  struct RedisKeys: Sendable {
    /// Classes of scopes with the positions of their last changes, the nonce, and the last position.
    let table: [UInt8]
    /// The log.
    let log: [UInt8]
    /// The nodes.
    let nodes: [UInt8]
    private let prefix: String
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - name: the name of the fleet.
    ///   - secret: the key of the digests.
    init(name: String, secret: some Collection<UInt8>) {
      prefix = "hc1:\(name):"
      self.secret = SymmetricKey(data: Array(secret))
      table = Array("\(prefix){\(name)}:s".utf8)
      log = Array("\(prefix){\(name)}:log".utf8)
      nodes = Array("\(prefix){\(name)}:nodes".utf8)
    }

    /// The names that belong to a cache key.
    struct Names: Sendable {
      /// 16 bytes.
      let digest: [UInt8]
      private let prefix: String
      private let end: String

      fileprivate init(prefix: String, partition: String, digest: [UInt8]) {
        self.digest = digest
        self.prefix = prefix
        end = ":\(partition):{\(Base64.encodeURL(digest))}"
      }

      /// A hash of variants.
      var variants: [UInt8] { Array("\(prefix)i\(end)".utf8) }
      /// A string with the holder.
      var lock: [UInt8] { Array("\(prefix)l\(end)".utf8) }
      /// A hash of parts.
      ///
      /// - Parameter id: of the body, in 16 hex digits.
      func body(_ id: String) -> [UInt8] { Array("\(prefix)b\(end):\(id)".utf8) }
    }

    /// The names for a cache key.
    func names(of key: CacheKey) -> Names {
      var writer = BinaryWriter()
      writer.byte(0)
      RecordCodec.write(key, to: &writer)
      return Names(
        prefix: prefix, partition: partition(mode: key.mode, key.partition),
        digest: digest(of: writer, count: 16))
    }

    /// The field of a variant, of 8 bytes.
    func field(of record: CacheRecord) -> [UInt8] {
      var writer = BinaryWriter()
      writer.byte(1)
      writer.bytes(RecordCodec.variant(of: record))
      return digest(of: writer, count: 8)
    }

    /// A pattern that the names of all keys of a partition match.
    func pattern(mode: CacheMode, partition name: String) -> String {
      "\(prefix)[ilb]:\(partition(mode: mode, name)):*"
    }

    private func partition(mode: CacheMode, _ name: String) -> String {
      var writer = BinaryWriter()
      writer.byte(2)
      writer.byte(mode.rawValue)
      writer.text(name)
      return Base64.encodeURL(digest(of: writer, count: 8))
    }

    private func digest(of writer: BinaryWriter, count: Int) -> [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: writer.output, using: secret).prefix(count))
    }
  }
#endif

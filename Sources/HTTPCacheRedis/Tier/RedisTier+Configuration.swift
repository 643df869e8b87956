#if Redis
  import HTTPCacheSemantics
  public import HTTPCaching
  import NIOSSL

  extension RedisTier {
    /// Where the servers are, and what the nodes of a fleet have in common. All nodes have the same `name`, `secret` and
    /// `encryption`.
    ///
    /// Printing it shows neither secrets nor keys.
    public struct Configuration: Sendable, CustomStringConvertible, CustomReflectable {
      /// Where the servers are, and the user.
      public var address: RedisAddress
      /// The name of the fleet: 1 to 64 letters, digits, dots, hyphens and underscores. Fleets with different names
      /// share a server and nothing else.
      public var name: String
      /// At least 32 random bytes. With them, the names of keys do not show URLs, and responses that `Vary` selects by
      /// secret fields can be shared (`SharedTier.secret`). nil for none.
      public var secret: [UInt8]?
      /// Encrypts records, bodies and changes, so that the servers keep no URL, field or body in plain text. nil for
      /// none.
      public var encryption: CacheEncryption?
      /// The largest body that is shared, in bytes. Servers keep it in memory.
      public var largestBody: Int64
      /// Which certificates are trusted, for `rediss://`.
      public var trustRoots: TrustRoots

      /// Makes a configuration.
      public init(
        address: RedisAddress, name: String = "default", secret: [UInt8]? = nil,
        encryption: CacheEncryption? = nil, largestBody: Int64 = 8 << 20, trustRoots: TrustRoots = .system
      ) {
        self.address = address
        self.name = name
        self.secret = secret
        self.encryption = encryption
        self.largestBody = largestBody
        self.trustRoots = trustRoots
      }

      /// Address and name.
      public var description: String { "\(address), fleet \(name)" }

      /// A mirror without children.
      public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The certificates of authorities that are trusted.
    public enum TrustRoots: Sendable, Hashable {
      /// The certificates of the system.
      case system
      /// The certificates in a PEM file.
      case file(path: String)
    }
  }

  extension RedisTier.Configuration {
    /// The smallest number of bytes of a secret.
    private static let shortestSecret = 32
    private static let longestBody: Int64 = 512 << 20

    /// Checks the name of a fleet.
    ///
    /// - Throws: `SharedTierError` of the kind `refused` for anything but 1 to 64 letters of ASCII, digits, dots, hyphens
    ///   and underscores.
    public static func check(name: String) throws(SharedTierError) {
      let isName =
        (1...64).contains(name.utf8.count)
        && name.utf8.allSatisfy { $0.isLetter || $0.isDigit || ".-_".utf8.contains($0) }
      guard isName else {
        throw SharedTierError(
          .refused,
          "the name of a fleet must have 1 to 64 letters, digits, dots, hyphens and underscores (got \(SharedTierError.cleaned(name)))"
        )
      }
    }

    /// - Throws: `SharedTierError` of the kind `refused` for a property that cannot be used.
    func check() throws(SharedTierError) {
      try Self.check(name: name)
      if let secret, secret.count < Self.shortestSecret {
        throw SharedTierError(
          .refused,
          "the secret of a fleet must have at least \(Self.shortestSecret) bytes (got \(secret.count))")
      }
      guard (0...Self.longestBody).contains(largestBody) else {
        throw SharedTierError(
          .refused, "the largest body must be between 0 and \(Self.longestBody) bytes (got \(largestBody))")
      }
    }

    /// - Throws: `SharedTierError` of the kind `refused` if the certificates cannot be read.
    func makeTLS() throws(SharedTierError) -> NIOSSLContext? {
      guard address.isEncrypted else { return nil }
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.minimumTLSVersion = .tlsv12
      do {
        switch trustRoots {
        case .system: break
        case .file(let path): tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
        }
        return try NIOSSLContext(configuration: tls)
      } catch {
        throw SharedTierError(.refused, "the trusted certificates cannot be used: \(error)")
      }
    }
  }
#endif

import ArgumentParser
import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCacheSemantics
import HTTPCaching

/// The options that name a fleet, of `serve`, `purge` and `fleet`.
struct FleetOptionGroup: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The Redis or Valkey server of a fleet of caches: redis://USER@HOST:PORT/DATABASE, or rediss:// for TLS; hosts \
      of one cluster with commas between them.
      """, valueName: "url"))
  var fleet: String?

  @Option(
    help: ArgumentHelp(
      "The name of the fleet; fleets of different names share nothing. (default: default)", valueName: "name")
  )
  var fleetName: String?

  @Option(
    help: ArgumentHelp(
      """
      A file with the password for --fleet in its first line. Other users must not have read access. A URL with a \
      password is refused on a command line, because other users can see it there.
      """, valueName: "path"))
  var fleetPasswordFile: String?

  @Option(
    help: ArgumentHelp(
      """
      The file of a secret that all nodes have: 32 bytes, 64 hex digits, or base64. With it, names of keys show no \
      URLs, and responses that Vary selects by credentials are shared. Other users must not have read access.
      """, valueName: "path"))
  var fleetSecretFile: String?

  @Option(
    help: ArgumentHelp(
      "PEM file: the certificates to trust for rediss:// instead of the system's.", valueName: "path"))
  var fleetCa: String?

  /// The name of an option that is given; nil if there is none but `--fleet`.
  private var used: String? {
    if fleetName != nil { return "--fleet-name" }
    if fleetPasswordFile != nil { return "--fleet-password-file" }
    if fleetSecretFile != nil { return "--fleet-secret-file" }
    return fleetCa == nil ? nil : "--fleet-ca"
  }

  func validate() throws {
    guard let fleet else {
      if let used { throw ValidationError("\(used) requires --fleet.") }
      return
    }
    do throws(SharedTierError) {
      if let fleetName { try RedisTier.Configuration.check(name: fleetName) }
    } catch {
      throw ValidationError("--fleet-name: \(error.message).")
    }
    let address: RedisAddress
    do throws(SharedTierError) {
      // The file of the password is read later: its text does not matter for the form of the address.
      address = try FleetAddress.parse(fleet, password: fleetPasswordFile == nil ? nil : "password")
    } catch {
      throw ValidationError("--fleet: \(error.message).")
    }
    if fleetCa != nil, !address.isEncrypted { throw ValidationError("--fleet-ca requires rediss://.") }
  }

  /// The configuration of the tier, with the files that the options name.
  ///
  /// - Parameters:
  ///   - encryption: encrypts what the server keeps; nil for none.
  ///   - largestBody: the largest body that is shared, in bytes; nil for the default.
  /// - Returns: nil without `--fleet`.
  /// - Throws: `StartFailure` for an option or a file that cannot be used.
  func configuration(
    encryption: CacheEncryption?, largestBody: Int64? = nil
  ) throws(StartFailure) -> RedisTier.Configuration? {
    guard let fleet else { return nil }
    let password = try fleetPasswordFile.map { path throws(StartFailure) in
      try TokenFile(option: "--fleet-password-file", path: path).password()
    }
    let secret = try fleetSecretFile.map { path throws(StartFailure) in try Self.secret(path) }
    if let fleetCa { _ = try TLSOptions.certificates(fleetCa, key: "fleet-ca") }
    do throws(SharedTierError) {
      var configuration = RedisTier.Configuration(
        address: try FleetAddress.parse(fleet, password: password), encryption: encryption)
      if let fleetName { configuration.name = fleetName }
      if let largestBody { configuration.largestBody = largestBody }
      if let fleetCa { configuration.trustRoots = .file(path: fleetCa) }
      configuration.secret = secret
      return configuration
    } catch {
      throw StartFailure("--fleet: \(error.message)")
    }
  }

  /// Makes the tier; nil without `--fleet`. It does not connect yet.
  ///
  /// Parameters and errors as those of `configuration`.
  func tier(encryption: CacheEncryption?, largestBody: Int64? = nil) throws(StartFailure) -> FleetTier? {
    guard let configuration = try configuration(encryption: encryption, largestBody: largestBody) else {
      return nil
    }
    do throws(SharedTierError) {
      return FleetTier(
        tier: try RedisTier(configuration), name: configuration.name,
        address: configuration.address.description)
    } catch {
      throw StartFailure("--fleet: \(error.message)")
    }
  }

  private static func secret(_ path: String) throws(StartFailure) -> [UInt8] {
    do {
      return try EncryptionKeyOption.readBytes(path)
    } catch {
      let reason = (error as? CacheError)?.message ?? "cannot be read"
      throw StartFailure("--fleet-secret-file \(path): \(reason)")
    }
  }
}

/// A tier with the names by which messages call it.
struct FleetTier: Sendable {
  let tier: RedisTier
  /// The name of the fleet.
  let name: String
  /// The address of its server, without user and password.
  let address: String
}

import ArgumentParser
import HTTPCacheProxy

/// The options of `serve` for `PURGE` and `BAN`.
struct PurgeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Let clients purge: PURGE for the responses of a target, or of the groups in Surrogate-Key or Cache-Tag; BAN for \
      all whose URLs begin with the target; with Soft-Purge: 1 they are validated instead of removed. The file has the \
      token that they must send (Authorization: Bearer TOKEN).
      """, valueName: "path"))
  var purgeTokenFile: String?

  @Option(
    help: ArgumentHelp(
      "An address or range that may purge, such as 10.0.0.0/8. May be repeated. (default: this machine)",
      valueName: "cidr"), transform: AddressRange.parsed)
  var purgeFrom: [AddressRange] = []

  @Flag(help: "Take the words of Surrogate-Key and Cache-Tag of responses as groups (RFC 9875).")
  var tagsAsGroups = false

  func validate() throws {
    if !purgeFrom.isEmpty, purgeTokenFile == nil {
      throw ValidationError("--purge-from requires --purge-token-file.")
    }
  }

  /// The clients that may purge; nil if none may.
  ///
  /// - Throws: `StartFailure` if the token cannot be used.
  func rights() throws(StartFailure) -> PurgeRights? {
    guard let path = purgeTokenFile else { return nil }
    let token = try TokenFile(option: "--purge-token-file", path: path).token()
    let machine = ["127.0.0.0/8", "::1", "::ffff:127.0.0.0/104"].compactMap { AddressRange($0) }
    return PurgeRights(token: token, addresses: purgeFrom.isEmpty ? machine : purgeFrom)
  }
}

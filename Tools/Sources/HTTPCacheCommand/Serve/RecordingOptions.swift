import ArgumentParser
import HTTPCacheArchives
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// `--record` and `--replay` of `serve`.
struct RecordingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Record the exchanges with origins in this HAR file, which is written at the end and replaces one that is there. \
      Responses are stored in memory only, so that each is asked for once. Credentials and cookies are left out.
      """, valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp(
      """
      Answer from this HAR file instead of asking origins; a request that it does not have gets 502, and the log \
      names the nearest one. Parameters of --strip-parameter match any value. Responses are stored in memory \
      only.
      """, valueName: "file"))
  var replay: String?

  @OptionGroup var secrets: SecretOptionGroup

  /// Whether the directory of the cache is left alone.
  var isMemoryOnly: Bool { record != nil || replay != nil }

  func validate() throws {
    if record != nil, replay != nil {
      throw ValidationError("--record and --replay exclude each other.")
    }
    if record == nil, !secrets.stripField.isEmpty {
      throw ValidationError("--strip-field requires --record.")
    }
    if !isMemoryOnly, !secrets.stripParameter.isEmpty {
      throw ValidationError("--strip-parameter requires --record or --replay.")
    }
  }

  /// The upstream that records or replays; nil without either option.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func upstream(over origin: any Upstream) throws -> ReplayUpstream? {
    guard let path = record ?? replay else { return nil }
    var secrets = secrets.secrets
    // Fields that a proxy adds: they tell of the proxy and its clients.
    for name in ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"] {
      if let name = HTTPField.Name(name) { secrets.fields.insert(name) }
    }
    do throws(CacheError) {
      return try ReplayUpstream(
        path: path, mode: record == nil ? .replay : .recordAll, secrets: secrets, origin: origin)
    } catch {
      throw ExitStatus.reporting(error)
    }
  }
}

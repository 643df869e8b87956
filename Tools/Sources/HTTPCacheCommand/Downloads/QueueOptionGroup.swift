import ArgumentParser
import HTTPCacheDownloads
import HTTPCaching

/// The options of `get` that make it work through a queue of downloads.
struct QueueOptionGroup: ParsableArguments {
  /// The name of the queue without `--queue`.
  static let defaultName = "get"

  @Option(
    name: .customLong("input-file"),
    help: ArgumentHelp(
      "Download the URLs in this file, - for standard input, in the format of wget -i and aria2c -i: a URL per "
        + "line (mirrors of it after tabs), then indented out=, dir=, checksum=, header= and split= lines for it. Without out=, the name "
        + "is from the URL.", valueName: "path"))
  var inputFile: String?

  @Option(
    name: .customLong("queue"),
    help: ArgumentHelp(
      "The queue that keeps the downloads (default: \(Self.defaultName), or \(Self.defaultName)-2 to "
        + "\(Self.defaultName)-32 while other processes run these). Without a URL, its downloads continue.",
      valueName: "name"))
  var queue: String?

  @Option(
    name: .customLong("segments"), parsing: .unconditional,
    help: ArgumentHelp(
      "Fetch a large file as this many ranges at once, if the origin takes ranges.", valueName: "count"))
  var segments: Int?

  @Option(
    name: .customLong("limit-rate"), parsing: .unconditional,
    help: ArgumentHelp("Bytes per second of all downloads together, such as 2M.", valueName: "rate"),
    transform: ByteSize.parsed)
  var limitRate: ByteSize?

  @Option(
    name: .customLong("checksum"),
    help: ArgumentHelp(
      "The digest of the file: sha-256=, sha-512=, sha-1= or md5= and hexadecimal digits.",
      valueName: "digest"))
  var checksum: String?

  @Flag(
    name: .customLong("link"),
    help: "Make each new file a link to the cache's body file where possible: its bytes are written once.")
  var link = false

  @Flag(
    inversion: .prefixedNo,
    help: """
      Continue what an earlier run received. --no-resume removes it, and the stored response, and downloads of other \
      URLs to the same files.
      """)
  var resume = true

  /// Whether an option is given that only a queue can fulfil.
  var isUsed: Bool {
    inputFile != nil || queue != nil || segments != nil || limitRate != nil || checksum != nil || link
      || !resume
  }

  /// The name of the queue.
  var name: String { queue ?? Self.defaultName }

  /// The queues to use while another process runs that of the default name.
  var otherNames: [String] { queue == nil ? (2...32).map { "\(Self.defaultName)-\($0)" } : [] }

  func validate() throws {
    if let segments, !(1...16).contains(segments) {
      throw ValidationError("--segments must be from 1 to 16 (got \(segments))")
    }
    if let limitRate, limitRate.bytes < 1 { throw ValidationError("--limit-rate must be at least 1") }
    if let checksum { _ = try Self.digest(checksum, "--checksum") }
  }

  private static let algorithms: [String: IntegrityDigest.Algorithm] = [
    "sha-256": .sha256, "sha256": .sha256, "sha-512": .sha512, "sha512": .sha512, "sha-1": .sha1,
    "sha1": .sha1,
    "md5": .md5,
  ]

  /// The digest that `sha-256=HEX` spells, as aria2 does; also `sha-512`, `sha-1` and `md5`.
  ///
  /// - Parameter option: names the option in the message.
  /// - Throws: `ValidationError`.
  static func digest(_ text: some StringProtocol, _ option: String) throws -> IntegrityDigest {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, let algorithm = algorithms[parts[0].lowercased()] else {
      throw ValidationError(
        "\(option) requires sha-256=, sha-512=, sha-1= or md5= and hexadecimal digits (got '\(text)')")
    }
    guard let digest = IntegrityDigest(algorithm: algorithm, hexadecimal: String(parts[1])) else {
      throw ValidationError(
        "\(option) requires \(parts[0])= and \(2 * algorithm.length) hexadecimal digits (got '\(text)')")
    }
    return digest
  }
}

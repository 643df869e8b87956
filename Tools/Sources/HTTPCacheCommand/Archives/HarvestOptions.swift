import ArgumentParser
import Foundation
import HTTPCacheArchives
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching
import NIOPosix

/// The options of `pack` that fetch.
struct HarvestOptions: ParsableArguments {
  @Option(
    name: .customLong("from-urls"),
    help: ArgumentHelp(
      "Fetch and pack the URLs of this file, one a line; - is standard input.", valueName: "file"))
  var lists: [String] = []

  @Option(
    name: .customLong("from-sitemap"),
    help: ArgumentHelp("Fetch and pack the pages of this sitemap with what they need.", valueName: "url"))
  var sitemaps: [String] = []

  @Option(
    name: .customLong("from-page"),
    help: ArgumentHelp(
      "Fetch and pack this page with its style sheets, scripts, pictures, fonts, media and frames.",
      valueName: "url"))
  var pages: [String] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Maximum number of URLs to fetch.", valueName: "count"))
  var limit = 1_000

  @Option(
    help: ArgumentHelp(
      """
      Maximum bytes of all fetched bodies together, such as 500M. A body that is too long for the rest is left out. \
      (default: 1G)
      """, valueName: "size"), transform: ByteSize.parsed)
  var maxSize = ByteSize(bytes: 1 << 30)

  @Option(
    name: .customLong("allow-address"),
    help: ArgumentHelp(
      """
      Addresses, such as 10.0.0.0/8, that links may lead to though they are not public. The origin of a URL that you \
      name is always allowed for that URL and what it leads to. May be repeated.
      """, valueName: "cidr"), transform: AddressRange.parsed)
  var allowedAddresses: [AddressRange] = []

  var isUsed: Bool { !(lists.isEmpty && sitemaps.isEmpty && pages.isEmpty) }

  func validate() throws {
    for url in sitemaps + pages where TargetURI.normalized(url) == nil {
      throw ValidationError("not an http or https URL: \(url)")
    }
    if !allowedAddresses.isEmpty, !isUsed {
      throw ValidationError("--allow-address requires --from-urls, --from-sitemap or --from-page")
    }
    guard limit > 0 else { throw ValidationError("--limit must be at least 1 (got \(limit)).") }
  }

  /// Fetches, and opens the responses.
  ///
  /// - Throws: `ExitCode` after a message on standard error.
  func fetch() async throws -> RecordingSeed {
    var urls: [(url: String, role: Harvest.Role)] = []
    for path in lists {
      let list = URLList(try Self.text(path))
      for note in list.others.notes { Console.report("httpcache: \(path): \(note)") }
      urls += list.urls.map { ($0, .plain) }
    }
    urls += sitemaps.compactMap { TargetURI.normalized($0) }.map { ($0, .sitemap) }
    urls += pages.compactMap { TargetURI.normalized($0) }.map { ($0, .page) }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("httpcache-\(UUID()).har").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    var checked = NIOUpstream.Configuration()
    checked.addresses = AddressRules(allowed: allowedAddresses)
    let linked = try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: checked)
    defer { linked.shutDown() }
    let count = try await OriginClient.withUpstream { [urls, limit, maxSize] upstream in
      try await Harvest(
        HarvestUpstream(named: upstream, linked: linked), recording: file, limit: limit,
        byteLimit: maxSize.bytes
      ) {
        Console.report("httpcache: \($0)")
      }.run(urls)
    }
    guard count > 0 else {
      Console.report("httpcache: nothing could be fetched")
      throw ExitStatus.failure.code
    }
    do throws(CacheError) {
      let seed = try RecordingSeed(path: file)
      for note in seed.notes { Console.report("httpcache: \(note)") }
      return seed
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private static func text(_ path: String) throws -> String {
    guard let file = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path),
      let data = try? file.readToEnd() ?? Data()
    else {
      Console.report("httpcache: cannot read \(path)")
      throw ExitStatus.cacheUnavailable.code
    }
    return String(decoding: data, as: UTF8.self)
  }
}

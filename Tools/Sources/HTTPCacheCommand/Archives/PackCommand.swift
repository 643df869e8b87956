import ArgumentParser
import HTTPCacheArchives
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// `httpcache pack`: makes an archive.
struct PackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack", abstract: "Pack folders, recordings, archives, the cache or URLs into one archive.",
    discussion: """
      An archive is one file with responses, for --seed and for apps (docs/archives.md). Equal input makes \
      equal files. Of several sources the first that has a URL counts. Cookies are never packed; of the \
      cache, only responses without credentials and without Cache-Control: private.

      Exit status:
      \(ExitStatus.help([
        .success: "packed", .failure: "there is no response to pack", .output: nil, .newerFormat: nil,
        .cacheUnavailable: "a source cannot be read, or is damaged", .usage: nil,
        .interrupted: nil,
      ]))
      """)

  @Argument(help: "The archive to write, such as content.hca. A file that is there is replaced.")
  var archive: String

  @Option(
    name: .customLong("from"),
    help: ArgumentHelp(
      "A folder (host/path), an archive, a HAR or a WARC file; repeat for several.", valueName: "path"))
  var sources: [String] = []

  @Flag(name: .customLong("from-cache"), help: "Pack what the cache has stored.")
  var isFromCache = false

  @Option(help: "With --from-cache, pack only URLs that begin with this prefix.")
  var prefix: String?

  @OptionGroup var harvest: HarvestOptions

  @OptionGroup var secrets: SecretOptionGroup

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if sources.isEmpty, !isFromCache, !harvest.isUsed {
      throw ValidationError(
        "pack requires --from PATH, --from-cache, --from-urls FILE, --from-sitemap URL or --from-page URL")
    }
    if prefix != nil, !isFromCache { throw ValidationError("--prefix requires --from-cache") }
  }

  func run() async throws {
    try await Interruption.cancelling { try await pack() }
  }

  private func pack() async throws {
    do throws(OutputFailure) { try OutputPlace.requireFile(at: archive) } catch { throw error.reported() }
    var all = try sources.map { try SeedOptionGroup.open($0) }
    if isFromCache { all.append(try await cached()) }
    if harvest.isUsed { all.append(try await harvest.fetch()) }
    let result: (packed: Int, length: Int64)?
    do throws(CacheError) {
      let writer = try ArchiveWriter(path: archive)
      let stripped = try all.map { (source) throws(CacheError) in
        try StrippedSeeds(source, without: secrets.secrets)
      }
      for seeds in stripped { SeedOptionGroup.report(seeds.notes, of: seeds.noteCount, in: seeds.name) }
      let packed = try await Self.add(stripped, to: writer)
      result = packed > 0 ? (packed, try await writer.finish()) : nil
    } catch {
      Console.report("httpcache: \(error)")
      throw [.io, .noSpace].contains(error.code) ? ExitStatus.output.code : ExitStatus(error.code).code
    }
    guard let result else {
      Console.report("httpcache: there is no response to pack")
      throw ExitStatus.failure.code
    }
    Console.print(
      "\(archive): \(HumanText.count(result.packed, "response")), \(HumanText.bytes(result.length))")
  }

  private func cached() async throws -> StoreExport {
    let store = try location.openStore()
    let selection = prefix.map { CacheSelection.prefix(TargetURL.normalizedPrefix($0)) } ?? .all
    do throws(CacheError) {
      let export = try await StoreExport(store, selection, mode: location.mode, name: location.path)
      if export.leftOut > 0 {
        Console.report("httpcache: \(HumanText.count(export.leftOut, "response")) left out")
        SeedOptionGroup.report(export.notes, of: export.leftOut, in: location.path)
      }
      return export
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  /// Adds the responses of sources, without the targets that an earlier source has.
  private static func add(
    _ sources: [any SeedSource], to writer: ArchiveWriter
  ) async throws(CacheError) -> Int {
    var packed = 0
    for (number, source) in sources.enumerated() {
      var position = 0
      while position < source.count {
        let page = try source.responses(from: position, limit: 64)
        if page.isEmpty { break }
        for seed in page {
          var targets: [String] = []
          for target in [seed.target] + seed.otherTargets
          where try !isKnown(target, to: sources[..<number]) {
            targets.append(target)
          }
          if targets.isEmpty { continue }
          try await writer.add(seed.answering(targets))
          packed += 1
        }
        position += page.count
      }
    }
    return packed
  }

  private static func isKnown(
    _ target: String, to sources: ArraySlice<any SeedSource>
  ) throws(CacheError) -> Bool {
    for source in sources where try !source.responses(to: target).isEmpty { return true }
    return false
  }
}

/// `--strip-field` and `--strip-parameter`: secrets that are not written, beside credentials and cookies.
struct SecretOptionGroup: ParsableArguments {
  @Option(help: ArgumentHelp("Do not write this field; repeat for several.", valueName: "name"))
  var stripField: [String] = []

  @Option(
    help: ArgumentHelp(
      "Write 'removed' for the value of this parameter of queries; repeat for several.", valueName: "name"))
  var stripParameter: [String] = []

  var secrets: RecordingSecrets {
    var secrets = RecordingSecrets(queryParameters: Set(stripParameter))
    secrets.fields.formUnion(stripField.compactMap { HTTPField.Name($0) })
    return secrets
  }

  func validate() throws {
    for name in stripField where HTTPField.Name(name) == nil {
      throw ValidationError("not the name of a field: \(name)")
    }
  }
}

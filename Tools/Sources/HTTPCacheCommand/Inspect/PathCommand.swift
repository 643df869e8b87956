import ArgumentParser
import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// `httpcache path`: prints the path of a body file.
struct PathCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print the file that holds the body of a URL.",
    discussion: """
      The URL is one under which responses are stored, or one of the clients of a server that uses the \
      directory, or used it last. The file holds exactly the body's bytes; read it, do not change it. A small body is \
      kept in the index and has no file; --export writes a copy of any body to a new file.

      Exit status:
      \(ExitStatus.help([
        .success: "printed, or exported",
        .failure: "nothing is stored for the URL, or its body has no file or is not complete",
        .output: "the export could not be written", .newerFormat: nil, .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Argument(help: "The URL.", transform: TargetURL.init(parsing:))
  var url: TargetURL

  @Option(help: "Write a copy of the body to this file, which must not exist yet.")
  var export: String?

  @OptionGroup var location: CacheLocation

  func run() async throws {
    try await Interruption.cancelling { try await printPath() }
  }

  private func printPath() async throws {
    let stores = try location.openStores()
    let store = stores.usable
    let entries = try await StoreListing.entries(
      of: url, in: store, location, DirectoryServers(location.path))
    let latest = Self.latest(entries)
    if let coding = (latest ?? entries.first)?.record.response.head.headerFields[.contentEncoding] {
      Console.report("httpcache: the body has the content coding \(coding); `get` decodes it")
    }
    if let export { return try await write(latest, of: entries, from: store, to: export) }
    let paths = entries.compactMap(\.bodyPath)
    for path in paths { Console.current.output(path + "\n") }
    guard paths.isEmpty else { return }
    guard entries.contains(where: \.record.isComplete) else {
      Console.report("httpcache: only a part of the body is stored; httpcache get fetches the rest")
      throw ExitStatus.failure.code
    }
    if stores.sealed != nil {
      Console.report("httpcache: the body file is encrypted; --export FILE writes a decrypted copy")
      throw ExitStatus.failure.code
    }
    let size = latest?.record.bodyLength.map { " (\(HumanText.bytes($0)))" } ?? ""
    Console.report(
      "httpcache: the body\(size) is kept in the index and has no file; --export FILE writes a copy")
    throw ExitStatus.failure.code
  }

  /// The complete entry that was stored or freshened last.
  private static func latest(_ entries: [CacheEntry]) -> CacheEntry? {
    entries.filter(\.record.isComplete).max {
      ($0.record.response.responseTime, $0.record.sequence)
        < ($1.record.response.responseTime, $1.record.sequence)
    }
  }

  private func write(
    _ latest: CacheEntry?, of entries: [CacheEntry], from store: any CacheStore, to path: String
  ) async throws {
    var status = stat()
    guard lstat(path, &status) != 0 else {
      Console.report("httpcache: \(path) exists; --export writes new files only")
      throw ExitStatus.output.code
    }
    do throws(OutputFailure) { try OutputPlace.requireFolder(of: path) } catch { throw error.reported() }
    if entries.count > 1 {
      Console.report("httpcache: \(entries.count) variants are stored; writing the latest")
    }
    do {
      // Another process may have replaced the entry since it was listed.
      let variants = try latest.map { try store.read($0.record.key) } ?? []
      guard
        let variant = variants.first(where: { $0.record.sequence == latest?.record.sequence })
          ?? variants.first(where: { $0.record.isComplete })
      else {
        Console.report("httpcache: only a part of the body is stored; httpcache get fetches the rest")
        throw ExitStatus.failure.code
      }
      try await variant.body.open().clone(to: path)
    } catch let error as CacheError {
      let code = ExitStatus.reporting(error)
      throw [.io, .noSpace].contains(error.code) ? ExitStatus.output.code : code
    }
  }
}

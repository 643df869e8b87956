import ArgumentParser
import HTTPCacheArchives
import HTTPCacheStore
import HTTPCaching

/// `httpcache unpack`: makes a folder of an archive.
struct UnpackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpack", abstract: "Write the responses of an archive as a folder of files.",
    discussion: """
      Bodies become files by host and path; seeds.jsonl has the status, fields and times of each. The folder is \
      a source for pack and --seed again.

      Exit status:
      \(ExitStatus.help([
        .success: "unpacked", .output: nil, .newerFormat: nil,
        .cacheUnavailable: "the archive cannot be read, or is damaged", .usage: nil,
      ]))
      """)

  @Argument(help: "The archive.")
  var archive: String

  @Argument(help: "The folder to make; it must not exist.")
  var folder: String

  func run() async throws {
    let source = try SeedOptionGroup.open(archive)
    do throws(CacheError) {
      let count = try await FolderWriter.write(source, to: folder)
      Console.print("\(folder): \(HumanText.count(count, "response"))")
    } catch {
      Console.report("httpcache: \(error)")
      throw [.io, .noSpace].contains(error.code) ? ExitStatus.output.code : ExitStatus(error.code).code
    }
  }
}

import ArgumentParser
import HTTPCacheArchives
import HTTPCacheStore
import HTTPCaching

/// `httpcache unpack`: makes a folder or a recording of an archive.
struct UnpackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Write the responses of an archive as a folder of files, or as HAR or WARC.",
    discussion: """
      A target that ends in .har, .warc or .warc.gz becomes such a file. Anything else becomes a folder: \
      bodies become files by host and path; seeds.jsonl has the status, fields and times of each. The folder is \
      a source for pack and --seed again.

      Exit status:
      \(ExitStatus.help([
        .success: "unpacked", .output: nil, .newerFormat: nil,
        .cacheUnavailable: "the archive cannot be read, or is damaged", .usage: nil,
        .interrupted: nil,
      ]))
      """)

  @Argument(help: "The archive; a folder, HAR or WARC file will do, too.")
  var archive: String

  @Argument(help: "The folder to make, which must not exist, or the file, which is replaced if it exists.")
  var target: String

  func run() async throws {
    try await Interruption.cancelling { try await unpack() }
  }

  private func unpack() async throws {
    let form = ExportForm(path: target) ?? .folder
    do throws(OutputFailure) {
      if form == .folder {
        // The folder to make may be named with a slash at its end.
        var place = target[...]
        while place.count > 1, place.hasSuffix("/") { place.removeLast() }
        try OutputPlace.requireFolder(of: String(place))
      } else {
        try OutputPlace.requireFile(at: target)
      }
    } catch {
      throw error.reported()
    }
    let source = try SeedOptionGroup.open(archive)
    do throws(CacheError) {
      let count = try await form.write(source, to: target)
      Console.print("\(target): \(HumanText.count(count, "response"))")
    } catch {
      Console.report("httpcache: \(error)")
      throw [.io, .noSpace].contains(error.code) ? ExitStatus.output.code : ExitStatus(error.code).code
    }
  }
}

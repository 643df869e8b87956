import ArgumentParser
import Foundation
import HTTPCacheDisk
import HTTPCaching

/// `httpcache config`: shows and changes the limits of a directory.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show or change the limits of the cache.",
    discussion: """
      The limits are kept in the directory, and hold for each command and server that uses it. A running \
      server follows a new capacity at once, and a new --min-free at its next start. A new directory has \
      1 GiB, and leaves 128 MiB free. A lower capacity evicts responses before the command ends; one in \
      which nothing can be stored is refused, but for 0. \
      --largest-entry is not kept in the directory: it evicts nothing, and get and serve take it.

      Exit status:
      \(ExitStatus.help([
        .success: "shown, or changed", .newerFormat: nil, .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Option(help: "Maximum bytes of the directory, such as 500M or 10G.", transform: ByteSize.parsed)
  var capacity: ByteSize?

  @Option(
    name: .customLong("min-free"), help: "Bytes to leave free on the file system; 0 disables the check.",
    transform: ByteSize.parsed)
  var minimumFree: ByteSize?

  @Flag(help: "Print JSON, one object.")
  var json = false

  @OptionGroup var location: CacheLocation

  /// The settings for programs; sizes in bytes.
  struct JSON: Encodable {
    var directory: String
    var capacity: Int64
    var usage: Int64
    var minFree: Int64
  }

  func run() async throws {
    let store = try open()
    if let capacity, capacity.bytes > 0, let note = store.noRoomNote(capacity: capacity.bytes) {
      Console.report("httpcache: --capacity \(capacity): \(note); nothing was changed")
      throw ExitStatus.usage.code
    }
    do {
      let before = store.usage
      if let minimumFree { try await store.setMinimumFreeSpace(minimumFree.bytes) }
      if let capacity { try await store.setCapacity(memory: nil, disk: capacity.bytes) }
      await store.flush()
      let evicted = before.diskEntries - store.usage.diskEntries
      if capacity != nil || minimumFree != nil, evicted > 0 {
        let freed = HumanText.bytes(before.diskBytes - store.usage.diskBytes)
        Console.report("httpcache: evicted \(HumanText.count(evicted, "response")), \(freed)")
      }
      try show(try store.settings(), usage: store.usage.diskBytes)
      if let note = store.noRoomNote { Console.report("httpcache: warning: \(note)") }
    } catch let error as CacheError {
      throw ExitStatus.reporting(error)
    }
  }

  /// The store; a directory is made only to give it a limit.
  private func open() throws -> DiskStore {
    guard capacity != nil || minimumFree != nil else { return try location.openDisk() }
    if let objection = UsableDirectory.objection(to: location.path) {
      Console.report("httpcache: \(objection)")
      throw ExitStatus.cacheUnavailable.code
    }
    do {
      return try DiskStore.open(directory: location.path)
    } catch {
      throw ExitStatus.reporting(error)
    }
  }

  private func show(_ settings: DirectorySettings, usage: Int64) throws {
    if json {
      return try Console.printJSON(
        JSON(
          directory: location.path, capacity: settings.capacity, usage: usage,
          minFree: settings.minimumFreeSpace))
    }
    Console.print("directory   \(location.path)")
    Console.print(
      "capacity    \(HumanText.bytes(settings.capacity)), \(HumanText.bytes(usage)) "
        + "(\(HumanText.share(usage, of: settings.capacity))) in use")
    Console.print("min-free    \(HumanText.bytes(settings.minimumFreeSpace))")
  }
}

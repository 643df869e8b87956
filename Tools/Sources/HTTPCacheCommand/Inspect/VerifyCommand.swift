import ArgumentParser
import Foundation
import HTTPCacheArchives
import HTTPCacheDisk
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCaching

/// `httpcache verify`: checks the store.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check index, bodies and checksums.",
    discussion: """
      Checksums find accidental damage, also of encrypted responses. With the key these are decrypted too, \
      which finds deliberate changes.

      Exit status:
      \(ExitStatus.help([
        .success: "no damage, or all damage repaired", .failure: "damage found", .newerFormat: nil,
        .cacheUnavailable: nil, .usage: nil,
      ]))
      """)

  @Flag(help: "Remove damaged responses.")
  var repair = false

  @Option(help: "Check this archive, instead of a cache.")
  var archive: String?

  @OptionGroup var location: CacheLocation

  func validate() throws {
    if archive != nil, repair { throw ValidationError("--repair cannot repair an archive: pack it again") }
  }

  func run() async throws {
    if let archive { return try await Self.verify(archive: archive) }
    let stores = try location.openStores()
    let report: VerificationReport
    var opened = SealedVerification()
    do {
      report = try await stores.disk.verify(repair: repair)
      if let sealed = stores.sealed { opened = try await sealed.verify(repair: repair) }
    } catch {
      throw ExitStatus.reporting(error)
    }
    report.findings.forEach { Console.print("\($0)") }
    let checked =
      "\(HumanText.count(report.entries, "response")), \(HumanText.bytes(report.bytes)) of bodies checked"
    // Opening the directory has begun a new index in place of a damaged one, and has told so.
    let replaced = stores.disk.openingNotes.count
    let count = report.findings.count + replaced
    let found = count == 0 ? "no damage" : HumanText.count(count, "finding")
    Console.print("\(checked): \(found)\(report.isRepaired && !report.isSound ? ", repaired" : "")")
    if stores.sealed != nil {
      opened.findings.forEach(Console.print)
      let found = opened.isSound ? "no damage" : HumanText.count(opened.findings.count, "finding")
      Console.print(
        "\(HumanText.count(opened.entries, "encrypted response")), \(HumanText.bytes(opened.bytes)) of bodies "
          + "decrypted: \(found)\(opened.isRepaired ? ", removed" : "")")
    }
    if stores.others > 0 {
      let key = stores.sealed == nil ? "encrypted" : "encrypted with another key"
      Console.print(
        "\(HumanText.count(stores.others, "response")) \(key): not decrypted, only checksums checked")
    }
    if stores.plain > 0 {
      Console.print("\(HumanText.count(stores.plain, "response")) not encrypted: only checksums checked")
    }
    guard report.isSound || report.isRepaired, replaced == 0 || repair, opened.isSound || opened.isRepaired
    else {
      throw ExitStatus.failure.code
    }
  }

  private static func verify(archive path: String) async throws {
    var isFolder: ObjCBool = false
    guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
      Console.report("httpcache: \(path) is a folder, which has no checksums")
      throw ExitStatus.usage.code
    }
    let archive: ArchiveSeed
    do { archive = try ArchiveSeed(path: path) } catch {
      Console.report("httpcache: \(error)")
      throw error.code == .damaged ? ExitStatus.failure.code : ExitStatus(error.code).code
    }
    let damaged = await archive.verify()
    damaged.forEach(Console.print)
    let found = damaged.isEmpty ? "no damage" : HumanText.count(damaged.count, "finding")
    Console.print("\(HumanText.count(archive.count, "response")) checked: \(found)")
    if !damaged.isEmpty { throw ExitStatus.failure.code }
  }
}

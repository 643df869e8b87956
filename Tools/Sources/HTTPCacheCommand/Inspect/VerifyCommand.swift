import ArgumentParser
import HTTPCaching

/// `httpcache verify`: checks the store.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check index, bodies and checksums.")

  @Flag(help: "Remove what is damaged.")
  var repair = false

  @OptionGroup var location: CacheLocation

  func run() async throws {
    let store = try location.openStore()
    let report: VerificationReport
    do {
      report = try await store.verify(repair: repair)
    } catch {
      throw ExitStatus.reporting(error)
    }
    report.findings.forEach { Console.print("\($0)") }
    let checked =
      "\(HumanText.count(report.entries, "response")), \(HumanText.bytes(report.bytes)) of bodies checked"
    let found = report.isSound ? "all is well" : HumanText.count(report.findings.count, "finding")
    Console.print("\(checked): \(found)\(report.isRepaired && !report.isSound ? ", repaired" : "")")
    guard report.isSound || report.isRepaired else { throw ExitStatus.failure.code }
  }
}

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
    do {
      let report = try await store.verify(repair: repair)
      Console.print("\(report)")
    } catch {
      throw ExitStatus.reporting(error)
    }
  }
}

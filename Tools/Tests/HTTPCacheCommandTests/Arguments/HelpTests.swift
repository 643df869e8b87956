import ArgumentParser
import Foundation
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

/// The help texts.
@Suite(.timeLimit(.minutes(10))) struct HelpTests {
  @Test("help describes each value of --policy", arguments: ["get", "explain"])
  func policies(command: String) async {
    let run = await CommandRun(command, "--help")
    for policy in PolicyArgument.allCases {
      #expect(run.errors.contains(policy.rawValue), "\(run.errors)")
      #expect(run.errors.contains("- \(policy.meaning.prefix(12))"), "\(run.errors)")
    }
  }

  @Test("help is ASCII: the generator of the manual drops other characters")
  func ascii() {
    var types: [any ParsableCommand.Type] = [HTTPCacheCommand.self]
    while let type = types.popLast() {
      types += type.configuration.subcommands
      let help = HTTPCacheCommand.helpMessage(for: type, columns: 400)
      for line in help.split(separator: "\n") { #expect(line.utf8.allSatisfy { $0 < 0x80 }, "\(line)") }
    }
  }

  @Test("messages spell a policy as its option does", arguments: PolicyArgument.allCases)
  func spelling(policy: PolicyArgument) { #expect(policy.policy.name == policy.rawValue) }

  private static let commands = HTTPCacheCommand.configuration.subcommands.map { $0._commandName }

  /// The commands that need no cache on disk, or make one.
  private static let needingNone: Set = [
    "serve", "top", "log", "fleet", "demo", "drive", "pack", "unpack",
  ]

  @Test("help lists the exit statuses", arguments: commands.filter { !needingNone.contains($0) })
  func statuses(command: String) async {
    let run = await CommandRun(command, "--help")
    #expect(run.errors.contains("Exit status:"))
    #expect(run.errors.contains("  10  there is no cache in the directory"))
  }

  @Test("docs/command.md has each command in its table", arguments: commands)
  func document(command: String) throws {
    let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../..").standardizedFileURL
    let document = try String(contentsOf: root.appendingPathComponent("docs/command.md"), encoding: .utf8)
    #expect(document.contains("| `httpcache \(command)"))
  }
}

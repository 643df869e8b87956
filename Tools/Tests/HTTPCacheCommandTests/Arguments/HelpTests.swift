import ArgumentParser
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

  @Test("messages spell a policy as its option does", arguments: PolicyArgument.allCases)
  func spelling(policy: PolicyArgument) { #expect(policy.policy.name == policy.rawValue) }

  @Test(
    "help lists the exit statuses",
    arguments: ["get", "ls", "show", "path", "explain", "purge", "verify", "config", "stats"])
  func statuses(command: String) async {
    let run = await CommandRun(command, "--help")
    #expect(run.errors.contains("Exit status:"))
    #expect(run.errors.contains("  10  there is no cache in the directory"))
  }
}

import ArgumentParser
import HTTPCacheRedis
import HTTPCaching

/// `httpcache fleet`: the nodes of a fleet, how far each has applied the changes, and its server.
struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Show the nodes of a fleet of caches, and its server.",
    discussion: """
      Nodes are the processes of `httpcache serve --fleet URL`, and programs with the same tier, that told of themselves \
      in the last 10 seconds. `behind` is the time between the last change in the log and the last one that the node has \
      applied.

        httpcache fleet --fleet redis://redis.example.com

      Exit status:
      \(ExitStatus.help([
        .success: "the server answered, even if there are no nodes",
        .failure: "the server refuses, or a file cannot be used",
        .unreachable: "the server cannot be reached", .timeout: nil, .usage: nil,
      ]))
      """)

  @OptionGroup var place: FleetOptionGroup

  @Flag(help: "Print a JSON object.")
  var json = false

  func validate() throws {
    if place.fleet == nil { throw ValidationError("fleet requires --fleet URL.") }
  }

  func run() async throws {
    let fleet: FleetTier
    do throws(StartFailure) {
      guard let given = try place.tier(encryption: nil) else { return }
      fleet = given
    } catch {
      throw error.reported()
    }
    let report: FleetReport
    do throws(SharedTierError) {
      report = try await FleetReport(of: fleet)
    } catch {
      await fleet.tier.close()
      throw ExitStatus.reporting(error, of: fleet)
    }
    await fleet.tier.close()
    if json { try Console.printJSON(report) } else { report.lines.forEach { Console.print($0) } }
  }
}

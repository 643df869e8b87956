import ArgumentParser
import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCacheStore
import HTTPCaching

extension PurgeCommand {
  /// How long the command waits for the nodes.
  private static var patience: Duration { .seconds(5) }

  /// Adds the change to the log of the fleet, and reports which nodes have applied it; nil without `--fleet`.
  ///
  /// - Throws: `ExitCode` after a message.
  func purgeFleet() async throws -> FleetPurge.Progress? {
    guard fleet.fleet != nil else { return nil }
    let encryption = try location.encryptionKey.encryption()
    let place: FleetTier
    do throws(StartFailure) {
      guard let given = try fleet.tier(encryption: encryption) else { return nil }
      place = given
    } catch {
      throw error.reported()
    }
    let selections = try fleetSelections()
    let kind: SharedChange.Kind = soft ? .expire : partition == nil ? .remove : .wipe
    do throws(SharedTierError) {
      let purge = FleetPurge(tier: place.tier, kind: kind, selections: selections)
      let progress = try await purge.run(within: Self.patience)
      await place.tier.close()
      return progress
    } catch {
      await place.tier.close()
      throw ExitStatus.reporting(error, of: place)
    }
  }

  /// Prints which nodes have applied the change.
  ///
  /// - Throws: `ExitCode` if one has not.
  func report(_ progress: FleetPurge.Progress) throws {
    let (applied, all) = (progress.applied.count, progress.applied.count + progress.pending.count)
    let what = soft ? "expired" : "removed"
    guard all > 0 else {
      return Console.print("added to the log; no node told of itself in the last 10 seconds")
    }
    guard progress.pending.isEmpty else {
      Console.print("\(what) on \(applied) of \(HumanText.count(all, "node"))")
      Console.report(
        "httpcache: the change is in the log; not applied yet by \(progress.pending.joined(separator: ", "))")
      throw ExitStatus.timeout.code
    }
    Console.print("\(what) on \(applied) of \(HumanText.count(all, "node"))")
  }

  /// The entries on all nodes. `serve` shares those of shared caches alone.
  private func fleetSelections() throws -> [CacheSelection] {
    if let partition {
      return [.partition(mode: location.modeFlag == .private ? .private : .shared, partition)]
    }
    return try selections(now: SystemClock().now, nil)
  }
}

import ArgumentParser
import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCaching

extension ServeCommand {
  /// Makes the tier of `--fleet`, and asks its server once; nil without `--fleet`. A server that cannot be reached stops
  /// no start; one that refuses does.
  ///
  /// - Throws: `ExitCode` after a message.
  func fleetMember(_ messages: LineWriter, _ file: ServeFile?) async throws -> FleetMember? {
    guard let tier = try fleetTier(file) else { return nil }
    var options = FleetOptions(nodeName: FleetMember.nodeName(port: route.listen.port))
    options.stalenessBound = fleet.fleetStaleness.map { .seconds($0) }
    // Clients wait for the start: a server that hangs must not delay it for long.
    let failure = try await failure(of: tier, within: .seconds(1), file)
    return FleetMember(fleet: tier, options: options, failure: failure)
  }

  /// Checks the fleet as a start does.
  ///
  /// - Throws: `ExitCode` after a message.
  func checkFleet(_ file: ServeFile?) async throws {
    guard let tier = try fleetTier(file) else { return }
    let failure = try await failure(of: tier, within: FleetQuestion.patience, file)
    await tier.tier.close()
    if let failure {
      Console.report(
        "httpcache: warning: the fleet at \(tier.address) cannot be used now (\(failure)); the server would work alone until it can"
      )
    }
  }

  private func fleetTier(_ file: ServeFile?) throws -> FleetTier? {
    guard fleet.place.fleet != nil else { return nil }
    let encryption = try encryptionKey.encryption(
      locating: StartFailure.locating("encryption-key-file", in: file))
    do throws(StartFailure) {
      let inFile = file?.options.first { $0.key.name == "fleet" }?.arguments
      if let file, let inFile, inFile.contains(where: { FleetAddress.hasPassword($0) }) {
        try file.refuseOtherReaders(of: "the password in fleet")
      }
      return try fleet.place.tier(encryption: encryption, largestBody: fleet.fleetLargest?.bytes)
    } catch {
      throw error.located(in: file).reported()
    }
  }

  /// Asks the server, without a change of what it keeps.
  ///
  /// - Parameter patience: how long to wait for it.
  /// - Returns: why it cannot be used now; nil if it can.
  /// - Throws: `ExitCode` after a message if the server refuses the user, or is none.
  private func failure(
    of fleet: FleetTier, within patience: Duration, _ file: ServeFile?
  ) async throws -> SharedTierError? {
    do throws(SharedTierError) {
      _ = try await FleetQuestion.answer(within: patience) { () async throws(SharedTierError) in
        try await fleet.tier.nodes()
      }
      return nil
    } catch {
      guard error.kind == .refused || error.kind == .protocol else { return error }
      await fleet.tier.close()
      throw StartFailure("--fleet \(fleet.address): \(error.message)").located(in: file).reported()
    }
  }
}

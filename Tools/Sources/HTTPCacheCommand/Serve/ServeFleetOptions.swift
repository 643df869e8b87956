import ArgumentParser

/// The options of `serve` for its fleet.
struct ServeFleetOptions: ParsableArguments {
  /// The longest bound of staleness in seconds.
  private static let longest: Int64 = 86_400

  @OptionGroup var place: FleetOptionGroup

  @Option(
    help: ArgumentHelp(
      """
      Seconds after which all entries are validated before their next use while the server of --fleet cannot be \
      reached, and again after as many: no response is used for longer than twice this time after another node removed \
      it. (default: as long as the response is fresh)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var fleetStaleness: Int64?

  @Option(
    help: ArgumentHelp(
      "The longest body that the fleet shares. (default: 8M)", valueName: "bytes"), transform: ByteSize.parsed
  )
  var fleetLargest: ByteSize?

  func validate() throws {
    if let fleetStaleness, !(1...Self.longest).contains(fleetStaleness) {
      throw ValidationError(
        "--fleet-staleness must be between 1 and \(Self.longest) seconds (got \(fleetStaleness)).")
    }
    guard place.fleet == nil else { return }
    if fleetStaleness != nil { throw ValidationError("--fleet-staleness requires --fleet.") }
    if fleetLargest != nil { throw ValidationError("--fleet-largest requires --fleet.") }
  }
}

import HTTPCacheSemantics

/// Processes share a tier and nothing else.
extension Scenario {
  /// The worlds in which a mistake in the protocol shows (`FleetPlan.Mutation`).
  static var fleets: [Scenario] { FleetPlan.Mutation.allCases.map(finding) + otherFleets }

  /// The world in which a mistake shows.
  package static func finding(_ mutation: FleetPlan.Mutation) -> Scenario {
    let stale: Set<Violation.Kind> = [.staleAfterPurge, .staleAfterPurgeElsewhere]
    return switch mutation {
    case .ticketAtPublication:
      Scenario("fleet-purge-overtakes-publication", breaks: stale, fleet(3, [.client(get), purge(1)]))
    case .deletesWithoutPositions:
      Scenario(
        "fleet-publication-after-deletion", breaks: stale, fleet(2, [.client(get), purge(1)]))
    case .appliesOnlyBefore:
      Scenario(
        "fleet-look-up-during-change", breaks: stale,
        fleet(2, [.client(get), .settle, purge(1), on(1), .settle]))
    case .ownChangeCountsAsRead:
      Scenario(
        "fleet-own-change-after-unread-one", breaks: stale,
        fleet(2, [.client(get), .settle, purge(1), purge(0, target: 1), .settle], targets: 2))
    case .nothingAddedAgain:
      Scenario(
        "fleet-failover-loses-change", breaks: stale,
        fleet(2, [.client(get), .settle, .tier(.replicate), purge(1), .tier(.failOver), .settle]))
    }
  }

  private static var otherFleets: [Scenario] {
    let put = client { ($0.method, $0.process) = (.put, 1) }
    return [
      Scenario(
        "fleet-change-before-first-connection", breaks: [.staleAfterPurgeElsewhere],
        fleet(2, [.client(get), purge(1)]) { $0.joinsFirst = false }),
      Scenario("fleet-put-overtakes-get", breaks: [], fleet(2, [.client(get), put, .client(get)])),
      Scenario(
        "fleet-flush", breaks: [],
        fleet(3, [.client(get), .settle, purge(1), .tier(.flush), on(2), .settle, on(0)])),
      Scenario(
        "fleet-away", breaks: [],
        fleet(
          2,
          [
            .client(get), .settle, .tier(.away(process: 1)), purge(1), on(1), .tier(.away(process: 1)),
            on(0), .settle,
          ])),
      Scenario(
        "fleet-absent-for-long", breaks: [],
        fleet(
          2,
          [
            .client(get), .settle, .tier(.away(process: 0)), purge(1), .settle, .advance(seconds: 70),
            .client(get), .tier(.away(process: 0)), .settle, .client(get),
          ])),
      Scenario(
        "fleet-unreadable-change", breaks: [],
        fleet(2, [.client(get), on(1), .settle, .tier(.unreadable), .client(get), on(1)])),
      Scenario(
        "fleet-validation", breaks: [],
        fleet(2, [.client(get), on(1), .settle, .advance(seconds: 10), .client(get), on(1), purge(0)]) {
          $0.targets[0].lifetime = 5
        }),
      Scenario(
        "fleet-origin-fails-leader", breaks: [],
        fleet(3, [.client(get), on(1), on(2), .client(get)]) { $0.originFaults = 0.5 }),
    ]
  }

  private static func fleet(
    _ processes: Int, _ operations: [Operation], targets: Int = 1,
    _ change: (inout WorldPlan) -> Void = { _ in }
  ) -> WorldPlan {
    world(
      operations,
      targets: ["/a", "/b?q=1"].prefix(targets).map { WorldPlan.Target(path: $0, varying: .never) }
    ) { plan in
      plan.fleet = FleetPlan()
      plan.mode = .shared
      plan.processes = processes
      plan.joinsFirst = true
      change(&plan)
    }
  }

  /// A plain request on a process.
  private static func on(_ process: Int) -> Operation { client { $0.process = process } }

  private static func purge(_ process: Int, target: Int = 0) -> Operation {
    .purge(Operation.Purge(process: process, target: target))
  }
}

import HTTPCacheSemantics

extension Scenario {
  /// The small worlds that have a name.
  package static let all: [Scenario] = beforeTheHead + validations + waiting + fleets

  /// A plain request.
  static let get = Operation.Client()

  /// A request that differs from a plain one.
  static func client(_ change: (inout Operation.Client) -> Void) -> Operation {
    var client = Operation.Client()
    change(&client)
    return .client(client)
  }

  /// A world with fixed operations.
  static func world(
    _ operations: [Operation], targets: [WorldPlan.Target] = [WorldPlan.Target(path: "/a", varying: .never)],
    _ change: (inout WorldPlan) -> Void = { _ in }
  ) -> WorldPlan {
    var plan = WorldPlan()
    plan.targets = targets
    plan.operations = operations
    change(&plan)
    return plan
  }

  private static func twoProcesses(_ plan: inout WorldPlan) {
    plan.stores = .tiered
    plan.processes = 2
  }

  /// An invalidation overtakes a response whose head has not come (RFC 9111 §4.4, RFC 9875 §3).
  private static var beforeTheHead: [Scenario] {
    let first = WorldPlan.Target(path: "/a", varying: .never, isInGroup: true)
    let second = WorldPlan.Target(path: "/b?q=1", varying: .never, isInGroup: true)
    let part = WorldPlan.Target(path: "/a", varying: .never, length: 90, chunk: 8, acceptsRanges: true)
    let put = client { $0.method = .put }
    return [
      Scenario("put-overtakes-get", breaks: [.staleAfterUnsafe], world([.client(get), put])),
      Scenario(
        "put-overtakes-get-on-disk", breaks: [.staleAfterUnsafe],
        world([.client(get), put]) { $0.stores = .tiered }),
      Scenario(
        "put-overtakes-get-elsewhere", breaks: [.staleAfterUnsafeElsewhere],
        world([.client(get), client { ($0.method, $0.process) = (.put, 1) }], twoProcesses)),
      Scenario(
        "purge-overtakes-get", breaks: [.staleAfterPurge],
        world([.client(get), .purge(Operation.Purge(scope: .target))])),
      Scenario(
        "removal-overtakes-get", breaks: [.staleAfterPurge],
        world([.client(get), .purge(Operation.Purge(scope: .prefix, removes: true))])),
      Scenario(
        "purge-overtakes-get-on-disk", breaks: [.staleAfterPurge],
        world([.client(get), .purge(Operation.Purge(scope: .all, removes: true))]) { $0.stores = .tiered }),
      Scenario(
        "purge-overtakes-get-elsewhere", breaks: [.staleAfterPurgeElsewhere],
        world([.client(get), .purge(Operation.Purge(process: 1, scope: .key))], twoProcesses)),
      Scenario(
        "group-overtakes-get", breaks: [.staleAfterGroup],
        world(
          [.client(get), client { ($0.method, $0.target, $0.invalidatesGroup) = (.put, 1, true) }],
          targets: [first, second])),
      Scenario(
        "clear-site-overtakes-get", breaks: [.staleAfterClearSite],
        world([.client(get), client { ($0.target, $0.clearsSite) = (1, true) }], targets: [first, second])),
      Scenario(
        "put-overtakes-hook", breaks: [.staleAfterUnsafe],
        world([.client(get), put]) { $0.hook = .suspending }),
      Scenario(
        "put-overtakes-304", breaks: [.staleAfterUnsafe],
        world([.client(get), .settle, client { $0.policy = .revalidate }, put])),
      Scenario(
        "purge-overtakes-304-elsewhere", breaks: [],
        world(
          [
            .client(get), .settle, client { $0.policy = .revalidate },
            .purge(Operation.Purge(process: 1, scope: .target)),
          ], twoProcesses)),
      Scenario(
        "purge-overtakes-404", breaks: [], known: [.staleAfterPurge],
        world(
          [
            .client(get), .settle, .change(target: 0), client { $0.policy = .revalidate },
            .purge(Operation.Purge()),
          ],
          targets: [WorldPlan.Target(path: "/a", varying: .never, goneEvery: 2)]
        ) {
          ($0.stores, $0.removesGone) = (.tiered, true)
        }),
      Scenario(
        "purge-overtakes-part", breaks: [.staleAfterPurge],
        world(
          [
            client { $0.reading = .leaves }, .settle, .client(get), .purge(Operation.Purge(scope: .key)),
          ], targets: [part])),
    ]
  }

  /// A 304 confirms a response that the request does not match (RFC 9111 §4.3.4).
  private static var validations: [Scenario] {
    func target(_ tags: WorldPlan.Tags, lifetime: Int64 = 0, _ confirmation: WorldPlan.Confirmation = .whole)
      -> WorldPlan.Target
    {
      WorldPlan.Target(path: "/a", tags: tags, lifetime: lifetime, confirmation: confirmation)
    }
    let other = client { $0.form = "b" }
    return [
      Scenario(
        "weak-tag-of-other-variant", breaks: [.wrongVariant],
        world([.client(get), .settle, other], targets: [target(.weakShared, lifetime: 1_000)])),
      Scenario(
        "weak-tag-of-two-variants", breaks: [.wrongVariant],
        world([.client(get), .settle, other, .settle, .client(get)], targets: [target(.weakShared)])),
      Scenario(
        "dates-of-two-variants", breaks: [],
        world([.client(get), .settle, other, .settle, .client(get), other], targets: [target(.dateOnly)])),
      Scenario(
        "dated-304-of-two-variants", breaks: [.wrongVariant],
        world(
          [
            .client(get), .settle, .advance(seconds: 5), other, .settle, .client(get), other,
          ], targets: [target(.strongAndDate, .date)])),
      Scenario(
        "bare-304-of-other-variant", breaks: [.wrongVariant],
        world(
          [.client(get), .settle, other], targets: [target(.weakShared, lifetime: 1_000, .bare)])),
      Scenario(
        "strong-tag-of-both-forms", breaks: [],
        world(
          [.change(target: 0), .change(target: 0), .client(get), .settle, other],
          targets: [WorldPlan.Target(path: "/a", lifetime: 0, sharesThirdVersion: true)])),
    ]
  }

  /// Requests that wait for the response of another one (RFC 9111 §4).
  private static var waiting: [Scenario] {
    let slow = client { $0.timeout = .seconds(10) }
    let hasty = client { $0.timeout = .seconds(1) }
    let member = WorldPlan.Target(path: "/a", varying: .never, isInGroup: true)
    let other = WorldPlan.Target(path: "/b?q=1", varying: .never, isInGroup: true)
    return [
      Scenario("follower-has-less-time", breaks: [.late], world([slow, hasty]) { $0.hasTimeouts = true }),
      Scenario(
        "join-after-group", breaks: [.staleAfterGroup],
        world(
          [
            .client(get), client { ($0.method, $0.target, $0.invalidatesGroup) = (.put, 1, true) },
            .client(get),
          ], targets: [member, other])),
      Scenario(
        "leader-gives-up", breaks: [],
        world([.client(get), .client(get), .client(get), .cancel(back: 2), .cancel(back: 1)])),
      Scenario(
        "origin-fails-leader", breaks: [],
        world([.client(get), .client(get), .client(get), .settle, .client(get)]) { $0.originFaults = 0.5 }),
      Scenario(
        "store-fails-leader", breaks: [],
        world([.client(get), .client(get), .client(get), .settle, .client(get)]) {
          ($0.stores, $0.storeFaults) = (.tiered, 0.2)
        }),
      Scenario(
        "store-fails-second-look", breaks: [],
        world(
          [.client(get), .settle, .client(get), .client(get), .client(get)],
          targets: [WorldPlan.Target(path: "/a", varying: .never, lifetime: 0)]
        ) {
          ($0.stores, $0.storeFaults) = (.tiered, 0.3)
          $0.memoryCapacity = 100
        }),
      Scenario(
        "background-validation", breaks: [.staleAfterUnsafe],
        world(
          [
            .client(get), .settle, .advance(seconds: 7), .client(get), client { $0.method = .put },
            .client(get),
          ],
          targets: [
            WorldPlan.Target(
              path: "/a", varying: .never, lifetime: 5, otherDirectives: ", stale-while-revalidate=20")
          ])),
    ]
  }
}

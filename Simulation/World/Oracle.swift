import HTTPCaching

/// Knows the whole history of a world, and checks each answer against it.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class Oracle: @unchecked Sendable {
  /// An invalidation that has ended: answers to later requests have at least this version.
  struct Floor: Sendable {
    enum Cause: Sendable { case unsafe, purge, group, clearSite }

    let cause: Cause
    let process: Int
    let target: Int
    /// The number of a partition; nil for all.
    let partition: Int?
    let version: Int
    /// The step in which the invalidation began.
    let begun: Int
    /// The step in which the invalidation ended.
    var ended = 0
  }

  let origin: SimulatedOrigin
  private(set) var violations: [Violation] = []
  private var floors: [Floor] = []
  /// Whether each process of a fleet has read all changes.
  var isFleetSettled = false
  /// The responses that the hook refused, by serial number.
  var refused: Set<Int> = []

  init(origin: SimulatedOrigin) { self.origin = origin }

  /// The number of invalidations that have ended, for a request that begins now.
  var endedInvalidations: Int { floors.count }

  /// An invalidation has ended.
  func add(_ floor: Floor) {
    var floor = floor
    floor.ended = origin.scheduler.steps
    floors.append(floor)
    origin.scheduler.note(
      "from here on \(origin.plan.targets[floor.target].path) has at least version \(floor.version) (\(floor.cause))",
      floor.version)
  }

  func report(_ kind: Violation.Kind, _ message: String, _ circumstances: String = "") {
    origin.scheduler.note("VIOLATION \(kind.rawValue): \(message)", kind.rawValue.count)
    violations.append(Violation(kind: kind, circumstances: circumstances, message: message))
  }

  /// Checks an answer whose body was read to its end without an error.
  func check(
    _ response: CacheResponse, body: [UInt8], to plan: Operation.Client, client: Int, began: Beginning
  ) {
    let status = response.head.status.code
    guard plan.method != .put, [200, 206, 404].contains(status) else { return }
    let head = response.head.headerFields
    let serial = head[.serial].flatMap { Int($0) } ?? 0
    guard let described = head[.representation].flatMap({ Representation(label: $0) }),
      let sent = origin.sent[serial]
    else { return report(.wrongHead, "client \(client) got a head that the origin has not sent") }
    if sent.isUnstorable, sent.client != client {
      report(.leaked, "client \(client) got response \(serial), which was for client \(sent.client) alone")
    }
    checkFreshness(response.outcome, serial, sent, client, began)
    guard plan.method == .get else { return checkAge(described, sent, plan, client, began) }
    var representation = described
    if status != 206 {
      guard let found = Representation.of(body: body) else {
        return report(.brokenBody, "client \(client) got \(body.count) bytes of no known body as whole")
      }
      representation = found
    }
    let text = "client \(client) wanted \(origin.plan.targets[plan.target].path) in form \(plan.form), got"
    guard representation.target == plan.target,
      (1...origin.versions[plan.target]).contains(representation.version)
    else { return report(.wrongBody, "\(text) \(representation.label)") }
    guard let representation = checkBytes(body, of: representation, response.head, plan.range, text)
    else { return }
    let tags = "\(origin.plan.targets[plan.target].tags)"
    guard origin.mayBe(representation, plan.target, form: plan.form) else {
      return report(.wrongVariant, "\(text) \(representation.label)", tags)
    }
    // Without validators, a response to HEAD gives its fields to any stored response (RFC 9111 §4.3.5).
    if representation != described, origin.plan.targets[plan.target].tags != .none {
      report(.wrongHead, "\(text) \(representation.label) under a head of \(described.label)", tags)
    }
    checkAge(representation, sent, plan, client, began)
  }

  /// Compares each byte.
  ///
  /// - Returns: the representation that the bytes are of; nil if there is none.
  private func checkBytes(
    _ body: [UInt8], of representation: Representation, _ head: HTTPResponse, _ wanted: Range<Int>?,
    _ text: String
  ) -> Representation? {
    guard head.status.code == 206 else {
      let whole = origin.body(representation)
      if body == whole { return representation }
      report(.brokenBody, "\(text) \(body.count) of \(whole.count) bytes of \(representation.label) as whole")
      return nil
    }
    let numbers = (head.headerFields[.contentRange] ?? "").split { !$0.isNumber }.compactMap { Int($0) }
    if isPart(body, of: representation, numbers, wanted) { return representation }
    for version in (1...origin.versions[representation.target]).reversed() {
      for name in ["a", "b", "n", "s"] {
        let other = Representation(target: representation.target, name: name, version: version)
        if isPart(body, of: other, numbers, wanted) { return other }
      }
    }
    report(.brokenBody, "\(text) a part that is not of \(representation.label): \(numbers)")
    return nil
  }

  /// Whether a body is the wanted range of a representation, neither more nor less.
  private func isPart(
    _ body: [UInt8], of representation: Representation, _ numbers: [Int], _ wanted: Range<Int>?
  ) -> Bool {
    let whole = origin.body(representation)
    guard let wanted else { return false }
    // The length is `*` where it is not known.
    return (2...3).contains(numbers.count) && numbers[0] == wanted.lowerBound && numbers[0] <= numbers[1]
      && numbers[1] == min(wanted.upperBound, whole.count) - 1
      && numbers.dropFirst(2).allSatisfy { $0 == whole.count }
      && body == Array(whole[numbers[0]...numbers[1]])
  }

  /// No answer is older than the last invalidation that had ended before its request began.
  private func checkAge(
    _ answer: Representation, _ sent: SimulatedOrigin.Sent, _ plan: Operation.Client, _ client: Int,
    _ began: Beginning
  ) {
    let overtaken = floors.prefix(began.endedInvalidations).last { floor in
      floor.target == plan.target && floor.version > answer.version
        && floor.partition ?? plan.partition == plan.partition
        // A process of a fleet learns of the changes of others later.
        && (origin.plan.fleet == nil || isFleetSettled || floor.process == plan.process)
    }
    guard let overtaken else { return }
    let isHere = overtaken.process == plan.process
    let kind: Violation.Kind =
      switch overtaken.cause {
      case .unsafe: isHere ? .staleAfterUnsafe : .staleAfterUnsafeElsewhere
      case .purge: isHere ? .staleAfterPurge : .staleAfterPurgeElsewhere
      case .group: .staleAfterGroup
      case .clearSite: .staleAfterClearSite
      }
    report(
      kind,
      "client \(client) got \(answer.label), at least version \(overtaken.version) was due when it asked",
      circumstances(of: overtaken, sent))
  }

  /// The progress of the response when the invalidation ended, and when it began.
  private func circumstances(of floor: Floor, _ sent: SimulatedOrigin.Sent) -> String {
    func phase(_ step: Int) -> String {
      guard let head = sent.headStep, step > head else { return "before the head" }
      guard let end = sent.endStep, step > end else { return "during the body" }
      return "after the body"
    }
    return "\(sent.isConfirmation ? "304, " : "")begun \(phase(floor.begun)), ended \(phase(floor.ended))"
  }

  private func checkFreshness(
    _ outcome: CacheOutcome, _ serial: Int, _ sent: SimulatedOrigin.Sent, _ client: Int, _ began: Beginning
  ) {
    // A 304 of a tier has no serial number, so a response that it confirmed keeps the number of an older one.
    guard case .hit(_, _, nil) = outcome, !origin.plan.jumps, origin.plan.fleet == nil else { return }
    // Ages are whole seconds.
    if began.uptime - sent.uptime > .seconds(sent.lifetime + 1) {
      report(
        .staleAsFresh,
        "client \(client) got response \(serial) as fresh, of \(sent.uptime), at \(began.uptime)")
    }
  }

  /// Checks what a store holds.
  func check(stored record: CacheRecord) {
    let serial = record.response.head.headerFields[.serial].flatMap { Int($0) } ?? 0
    if refused.contains(serial) {
      report(.storedRefused, "response \(serial) is stored, which the hook refused")
    }
    if origin.sent[serial]?.isUnstorable ?? false {
      report(
        .storedRefused,
        "response \(serial) is stored: \(record.response.head.headerFields[.cacheControl] ?? "")")
    }
  }
}

/// The state when a request began.
struct Beginning: Sendable {
  let uptime: Duration
  let endedInvalidations: Int
}

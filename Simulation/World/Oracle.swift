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
    /// The uid of its change in the log of a fleet; nil if it is not known.
    var change: String?
    /// The step in which the invalidation ended.
    var ended = 0
  }

  let origin: SimulatedOrigin
  private(set) var violations: [Violation] = []
  private var floors: [Floor] = []
  /// Whether each process of a fleet has read all changes.
  var isFleetSettled = false
  /// The uids of the changes of others that each process of a fleet has applied, in order.
  private var applied: [Int: [String]] = [:]
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

  /// A process of a fleet has applied a change of another one.
  func didApply(_ change: String, process: Int) { applied[process, default: []].append(change) }

  /// The number of changes of others that a process has applied.
  func appliedChanges(_ process: Int) -> Int { applied[process]?.count ?? 0 }

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
    checkFreshness(response, sent, described, client, began)
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
        && isKnown(floor, to: plan.process, began)
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

  /// Whether a process knows of an invalidation: a process of a fleet learns of the changes of others later.
  private func isKnown(_ floor: Floor, to process: Int, _ began: Beginning) -> Bool {
    if origin.plan.fleet == nil || isFleetSettled || floor.process == process { return true }
    guard let change = floor.change else { return false }
    return applied[process]?.prefix(began.appliedChanges).contains(change) ?? false
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

  /// A fresh answer from a store or a tier is within its lifetime, and at least as old as it says (RFC 9111 §4.2).
  private func checkFreshness(
    _ response: CacheResponse, _ sent: SimulatedOrigin.Sent, _ described: Representation, _ client: Int,
    _ began: Beginning
  ) {
    let age: Duration
    switch response.outcome {
    case .hit(let told, _, nil), .shared(_, let told, _): age = told
    case .hit, .validated, .forwarded, .unsatisfiable: return
    }
    guard !origin.plan.jumps else { return }
    var sent = sent
    if origin.plan.fleet != nil {
      // A 304 of a tier has no serial number: its `Date` tells which response of the origin confirmed the answer.
      let date = response.head.headerFields[.date]
      guard let confirming = origin.latest(described, date: date) else {
        return report(
          .wrongHead, "client \(client) got \(described.label) of \(date ?? "no date"), which was not sent")
      }
      sent = confirming
    }
    let passed = began.uptime - sent.uptime
    // Ages are whole seconds.
    if passed > .seconds(sent.lifetime + 1) {
      report(
        .staleAsFresh,
        "client \(client) got \(described.label) as fresh, of \(sent.uptime), at \(began.uptime)")
    }
    if passed > age + .seconds(1) {
      report(
        .tooYoung,
        "client \(client) got \(described.label), of \(sent.uptime), at \(began.uptime) with an age of \(age)"
      )
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
  /// The number of changes of other processes of a fleet that the process had applied.
  var appliedChanges = 0
}

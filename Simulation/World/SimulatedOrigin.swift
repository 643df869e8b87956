import HTTPCacheTesting
import HTTPCaching

/// The origin of a world: targets with versions and forms, conditions, ranges and faults. It remembers each
/// response that it has made, so that the oracle knows what an answer is.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class SimulatedOrigin: @unchecked Sendable {
  static let (authority, scheme) = ("origin.example", "https")
  static let site = "https://origin.example"
  static let group = "g"

  /// A response that the origin has made.
  struct Sent: Sendable {
    let client: Int
    let uptime: Duration
    let lifetime: Int64
    /// The representation that it gives or confirms, and its `Date`.
    let representation: Representation
    let date: String
    /// Whether no store of the world may keep the response.
    let isUnstorable: Bool
    /// The step in which the cache got the head.
    var headStep: Int?
    /// The step in which the cache got the last byte.
    var endStep: Int?
    /// Whether it is a 304.
    var isConfirmation = false
  }

  let plan: WorldPlan
  let scheduler: Scheduler
  private(set) var versions: [Int]
  private(set) var sent: [Int: Sent] = [:]
  private var lastSerial = 0
  private var random: SeededGenerator
  /// Whether the origin works without a fault, for the end of a simulation.
  var isHealthy = false

  init(plan: WorldPlan, scheduler: Scheduler, random: SeededGenerator) {
    self.plan = plan
    self.scheduler = scheduler
    self.random = random
    versions = plan.targets.map { _ in 1 }
  }

  /// The cache has the head of a response.
  func didDeliverHead(_ serial: Int) { sent[serial]?.headStep = scheduler.steps }

  /// The cache has the last byte of a response.
  func didDeliverEnd(_ serial: Int) { sent[serial]?.endStep = scheduler.steps }

  /// Changes the content of a target.
  func change(_ target: Int) {
    versions[target] += 1
    scheduler.note("origin: \(plan.targets[target].path) has version \(versions[target])", target)
  }

  /// The representation of a version for a request's `x-form`.
  func representation(_ target: Int, version: Int, form: String) -> Representation {
    let plan = plan.targets[target]
    let varies =
      switch plan.varying {
      case .never: false
      case .always: true
      case .fromVersion(let first): version >= first
      }
    let name = !varies ? "n" : plan.sharesThirdVersion && version % 3 == 0 ? "s" : form
    return Representation(target: target, name: name, version: version)
  }

  func body(_ representation: Representation) -> [UInt8] {
    representation.bytes(length: plan.targets[representation.target].length)
  }

  /// Whether an answer may be one that the origin has sent at some time for a target and form.
  func mayBe(_ representation: Representation, _ target: Int, form: String) -> Bool {
    representation.target == target && (1...versions[target]).contains(representation.version)
      && self.representation(target, version: representation.version, form: form) == representation
  }

  /// The last response with a representation and a `Date`; nil if there was none.
  func latest(_ representation: Representation, date: String?) -> Sent? {
    sent.values.filter { $0.representation == representation && $0.date == date }
      .max { $0.uptime < $1.uptime }
  }

  /// A fault of the origin in answering a request.
  enum Fault: Sendable { case none, unreachable, lost, serverError, hangs, breaksOff(after: Int) }

  func fault(_ method: HTTPRequest.Method) -> Fault {
    guard !isHealthy, random.chance(plan.originFaults) else { return .none }
    switch random.below(method == .get ? 7 : 5) {
    case 0: return .unreachable
    case 1: return .lost
    case 2, 3: return .serverError
    case 4: return plan.hasTimeouts ? .hangs : .unreachable
    default: return .breaksOff(after: random.below(4))
    }
  }

  /// Takes a request, changes what it changes, and makes the head and body of the response.
  func process(
    _ request: HTTPRequest, client: Int
  ) -> (head: HTTPResponse, body: [UInt8], target: Int) {
    let target = plan.targets.firstIndex { $0.path == request.path } ?? 0
    let plan = plan.targets[target]
    let fields = request.headerFields
    var head = HTTPResponse(status: .ok)
    head.headerFields[.date] = scheduler.now.httpDate
    let isUnsafe = request.method == .put
    if isUnsafe { change(target) }
    if fields[.clear] != nil {
      for other in versions.indices { change(other) }
      head.headerFields[.clearSiteData] = "\"cache\""
    }
    if isUnsafe, fields[.invalidateGroup] != nil {
      for other in versions.indices where self.plan.targets[other].isInGroup { change(other) }
      head.headerFields[.cacheGroupInvalidation] = "\"\(Self.group)\""
    }
    lastSerial += 1
    let current = representation(target, version: versions[target], form: fields[.form] ?? "a")
    let isUnstorable =
      plan.unstorableEvery > 0 && current.version % plan.unstorableEvery == 0
    sent[lastSerial] = Sent(
      client: client, uptime: scheduler.uptime, lifetime: plan.lifetime, representation: current,
      date: scheduler.now.httpDate, isUnstorable: isUnstorable)
    head.headerFields[.serial] = String(lastSerial)
    scheduler.note(
      "origin: \(request.method) for client \(client) makes \(current.label), serial \(lastSerial)",
      lastSerial)
    if isUnsafe {
      head.headerFields[.contentLength] = "0"
      return (head, [], target)
    }
    head.headerFields[.representation] = current.label
    let isGone = plan.goneEvery > 0 && current.version % plan.goneEvery == 0
    describe(current, plan, isUnstorable: isUnstorable, &head)
    if isGone { head.status = .notFound }
    if !isGone, let confirmed = notModified(current, plan, request, head) {
      sent[lastSerial]?.isConfirmation = true
      return (confirmed, [], target)
    }
    let body = body(current)
    if !isGone, plan.acceptsRanges, let range = range(request, of: body.count, current) {
      head.status = .partialContent
      head.headerFields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
      return (head, Array(body[range]), target)
    }
    if request.method == .head {
      head.headerFields[.contentLength] = String(body.count)
      return (head, [], target)
    }
    return (head, body, target)
  }

  private func describe(
    _ current: Representation, _ plan: WorldPlan.Target, isUnstorable: Bool, _ head: inout HTTPResponse
  ) {
    let refusal = self.plan.mode == .shared && current.version % 2 == 0 ? "private" : "no-store"
    head.headerFields[.cacheControl] =
      isUnstorable ? refusal : "max-age=\(plan.lifetime)\(plan.otherDirectives)"
    if current.name != "n" { head.headerFields[.vary] = "x-form" }
    if plan.isInGroup { head.headerFields[.cacheGroups] = "\"\(Self.group)\"" }
    if plan.acceptsRanges { head.headerFields[.acceptRanges] = "bytes" }
    head.headerFields[.eTag] = tag(of: current, plan)
    if plan.hasDates {
      head.headerFields[.lastModified] = modified(current).httpDate
    }
  }

  private func tag(of current: Representation, _ plan: WorldPlan.Target) -> String? {
    switch plan.tags {
    case .strong, .strongAndDate: "\"\(current.name)\(current.version)\""
    case .weakShared: "W/\"\(current.version)\""
    case .dateOnly, .none: nil
    }
  }

  // Versions are seconds apart, long before the simulation begins.
  private func modified(_ current: Representation) -> Timestamp {
    Timestamp(seconds: 1_600_000_000 + 100 * Int64(current.version))
  }

  private func notModified(
    _ current: Representation, _ plan: WorldPlan.Target, _ request: HTTPRequest, _ whole: HTTPResponse
  ) -> HTTPResponse? {
    let fields = request.headerFields
    let isSame: Bool
    if let wanted = fields[.ifNoneMatch] {
      let tag = tag(of: current, plan)
      isSame =
        tag.map { tag in
          wanted.split(separator: ",").contains { opaque($0) == opaque(tag[...]) }
        } ?? false
    } else if plan.hasDates, let since = fields[.ifModifiedSince] {
      isSame = since == modified(current).httpDate
    } else {
      isSame = false
    }
    guard isSame else { return nil }
    var head = whole
    head.status = .notModified
    if plan.confirmation != .whole { head.headerFields[.eTag] = nil }
    if plan.confirmation == .bare { head.headerFields[.lastModified] = nil }
    return head
  }

  private func opaque(_ tag: Substring) -> Substring {
    let tag = tag.drop { $0 == " " }
    return tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
  }

  private func range(_ request: HTTPRequest, of count: Int, _ current: Representation) -> Range<Int>? {
    let fields = request.headerFields
    guard request.method == .get, let text = fields[.range], text.hasPrefix("bytes=") else { return nil }
    if let condition = fields[.ifRange], condition != tag(of: current, plan.targets[current.target]) {
      return nil
    }
    let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = Int(bounds[0]), first < count else { return nil }
    let last = Int(bounds[1]) ?? count - 1
    return first <= last ? first..<min(count, last + 1) : nil
  }
}

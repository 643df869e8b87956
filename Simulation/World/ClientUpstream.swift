import HTTPCaching

/// The upstream of one client to the origin of a world.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class ClientUpstream: Upstream, @unchecked Sendable {
  private let origin: SimulatedOrigin
  private let client: Int
  private var scheduler: Scheduler { origin.scheduler }
  /// When the latest request went out.
  private(set) var sentAt: Duration?
  /// The step in which the latest request went out.
  private(set) var sentStep = 0
  /// The versions of all targets when the origin made the latest head with `Clear-Site-Data` that arrived.
  private(set) var cleared: [Int]?
  /// The versions of all targets when the origin made the latest answer to an unsafe request that arrived.
  private(set) var changed: [Int]?

  init(_ origin: SimulatedOrigin, client: Int) {
    self.origin = origin
    self.client = client
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let start = scheduler.uptime
    sentAt = start
    sentStep = scheduler.steps
    let deadline = request.timeout.map { start + $0 }
    let fault = origin.fault(request.head.method)
    scheduler.note("client \(client) sends \(request.head.method) \(request.head.path ?? "")", client)
    try await wait(.request, deadline)
    if case .unreachable = fault { throw UpstreamError(.unreachable, "simulated") }
    if case .hangs = fault, let deadline { try await wait(.sleep, deadline) }
    if case .serverError = fault {
      try await wait(.head, deadline)
      return UpstreamResponse(head: HTTPResponse(status: .serviceUnavailable), body: .empty)
    }
    let (head, bytes, target) = origin.process(request.head, client: client)
    let versions = origin.versions
    try await wait(.head, deadline)
    if case .lost = fault { throw UpstreamError(.protocol, "simulated loss") }
    // A head that never arrived invalidates nothing.
    if head.headerFields[.clearSiteData] != nil { cleared = versions }
    if request.head.method == .put { changed = versions }
    let plan = origin.plan.targets[target]
    let breaksAt: Int? = if case .breaksOff(let parts) = fault { parts } else { nil }
    let serial = head.headerFields[.serial].flatMap { Int($0) } ?? 0
    scheduler.note("the cache has head \(serial) for client \(client)", client)
    origin.didDeliverHead(serial)
    if bytes.isEmpty { origin.didDeliverEnd(serial) }
    return UpstreamResponse(
      head: head,
      body: bytes.isEmpty
        ? .empty
        : MessageBody(
          SimulatedBody(
            bytes, chunk: plan.chunk, tellsLength: plan.tellsLength, breaksAfter: breaksAt, scheduler
          ) { [origin] in origin.didDeliverEnd(serial) }))
  }

  private func wait(_ place: Place, _ deadline: Duration?) async throws(UpstreamError) {
    switch await scheduler.pause(place, until: deadline) {
    case .released: return
    case .timedOut: throw UpstreamError(.timeout, "simulated")
    case .cancelled: throw UpstreamError(.cancelled, "simulated")
    }
  }
}

/// A body on its way from the origin, a part at a time.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class SimulatedBody: BodySource, @unchecked Sendable {
  private var rest: ArraySlice<UInt8>
  private let chunk: Int
  private var partsLeft: Int?
  private let scheduler: Scheduler
  private var isCancelled = false
  private let onEnd: @Sendable () -> Void
  let length: Int64?

  /// - Parameters:
  ///   - chunk: the bytes of a part.
  ///   - breaksAfter: the number of parts that arrive before the connection breaks; nil lets all arrive.
  ///   - onEnd: called when the last part has arrived.
  init(
    _ bytes: [UInt8], chunk: Int, tellsLength: Bool, breaksAfter: Int?, _ scheduler: Scheduler,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.onEnd = onEnd
    rest = bytes[...]
    self.chunk = chunk
    partsLeft = breaksAfter
    self.scheduler = scheduler
    length = tellsLength ? Int64(bytes.count) : nil
  }

  var trailers: HTTPFields { [:] }

  func next() async throws -> BodyBytes? {
    if rest.isEmpty { return nil }
    if case .cancelled = await scheduler.pause(.body) { throw CancellationError() }
    if isCancelled { throw UpstreamError(.cancelled, "simulated") }
    if let left = partsLeft {
      guard left > 0 else { throw UpstreamError(.protocol, "simulated break") }
      partsLeft = left - 1
    }
    defer {
      rest = rest.dropFirst(chunk)
      if rest.isEmpty { onEnd() }
    }
    return BodyBytes(rest.prefix(chunk))
  }

  func cancel() { isCancelled = true }
}

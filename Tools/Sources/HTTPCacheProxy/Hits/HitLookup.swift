import HTTPCaching
import HTTPTypes
import NIOCore

/// A request that was parsed and routed to prepare an answer, and that memory does not answer. An object, for which an
/// idle connection has the space of a reference.
final class JudgedRequest: Sendable {
  let head: RequestHead
  let route: Route

  init(head: RequestHead, route: Route) {
    self.head = head
    self.route = route
  }
}

/// Finds the prepared answer to a plain request, or prepares it.
final class HitLookup {
  /// Longer bodies take the slow path.
  static let longestBody = 64 << 10

  let context: ProxyContext
  let client: ClientSide
  let form: ResponseWriter.Form
  let answers: PreparedAnswers
  let allocator: ByteBufferAllocator
  /// The last request, if it was looked at and got no answer.
  private var judged: JudgedRequest?

  init(
    context: ProxyContext, client: ClientSide, form: ResponseWriter.Form, answers: PreparedAnswers,
    allocator: ByteBufferAllocator
  ) {
    self.context = context
    self.client = client
    self.form = form
    self.answers = answers
    self.allocator = allocator
  }

  /// The answer to a plain request; nil if it takes the slow path.
  ///
  /// - Parameters:
  ///   - key: the key of the request.
  ///   - head: makes the head of the request, if it is needed.
  func content(for key: [UInt8], _ head: () -> RequestHead?) -> PreparedAnswer.Content? {
    judged = nil
    if let known = answers.answer(for: key) {
      if let content = known.content {
        if context.cache.use(content.hit) { return content }
      } else if known.time == context.cache.configuration.clock.now {
        return nil
      }
    }
    let content = head().flatMap { prepare($0) }
    let time = content?.hit.time ?? context.cache.configuration.clock.now
    answers.insert(PreparedAnswer(key: key, time: time, content: content))
    return content.flatMap { context.cache.use($0.hit) ? $0 : nil }
  }

  /// The last request that got no answer, if it was looked at: the slow path need not parse and route it again.
  func takeJudged() -> JudgedRequest? { judged.take() }

  /// Prepares the answer as the slow path would make it.
  private func prepare(_ head: RequestHead) -> PreparedAnswer.Content? {
    let routing = Routing(mode: context.mode, via: context.via, client: client)
    guard (try? head.framing()) == Framing.none,
      let route = try? routing.route(head, framing: .none)
    else { return nil }
    // A stream of HTTP/2 is routed when it has a channel.
    if case .http1 = form { judged = JudgedRequest(head: head, route: route) }
    guard case .cached(let request) = route, !request.bypassesCache,
      let hit = context.cache.memoryHit(
        for: request.head, options: RequestOptions(partition: request.partition, redirectLimit: 0),
        longestBody: Self.longestBody),
      hit.nominatedFields.allSatisfy(FieldNameTable.isKeyed)
    else { return nil }
    judged = nil
    var response = hit.head
    request.finish(&response.headerFields)
    context.via.append(to: &response.headerFields)
    let (headers, bytes) = ResponseWriter.whole(
      response, to: head.method, body: hit.body, form: form, isReusable: head.isPersistent,
      allocator: allocator
    )
    return PreparedAnswer.Content(
      hit: hit, headers: headers, bytes: bytes, silence: request.route?.silence.client, method: head.method,
      host: client.host(of: head), target: head.target, status: response.status.code,
      outcome: hit.outcome.label.rawValue, isLast: !head.isPersistent)
  }
}

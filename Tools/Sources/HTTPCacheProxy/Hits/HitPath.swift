import HTTPCaching
import HTTPTypes
import NIOCore

/// Answers plain requests of one connection from memory, on the event loop. Every other request takes the general way
/// (`ClientConnection`), whose answers have the same bytes.
final class HitPath {
  /// Longer bodies take the general way.
  static let longestBody = 64 << 10
  /// Maximum number of requests to answer in one turn, before other connections get theirs.
  private static let mostInTurn = 32

  private let connection: ClientConnection
  private let answers: PreparedAnswers
  private var plain: PlainRequest

  private var context: ProxyContext { connection.context }

  init(_ connection: ClientConnection, answers: PreparedAnswers) {
    self.connection = connection
    self.answers = answers
    plain = PlainRequest(limits: connection.context.configuration.limits)
  }

  /// Answers the requests at the beginning of `buffer` and moves the reader index behind them.
  ///
  /// - Parameter write: hands bytes to the channel.
  /// - Returns: whether there is anything to flush.
  func answer(_ buffer: inout ByteBuffer, write: (ByteBuffer) -> Void) -> Bool {
    var count = 0
    while count < Self.mostInTurn, buffer.readableBytes > 0, !context.registry.isDraining,
      connection.stream.channel.isWritable
    {
      let started = NIODeadline.now()
      guard let length = buffer.withUnsafeReadableBytes({ plain.find(in: $0) }),
        let content = content(of: buffer, length: length)
      else { break }
      write(content.bytes)
      // A slice of the same bytes, not a copy.
      let head = buffer.readSlice(length: length) ?? ByteBuffer()
      count += 1
      connection.log(content, started, head)
    }
    return count > 0
  }

  /// The answer to the request that `plain` has found; nil if it takes the general way.
  private func content(of buffer: ByteBuffer, length: Int) -> PreparedAnswer.Content? {
    if let known = answers.answer(for: plain.key) {
      if let content = known.content {
        if context.cache.use(content.hit) { return content }
      } else if known.time == context.cache.configuration.clock.now {
        return nil
      }
    }
    let content = buffer.withUnsafeReadableBytes {
      prepare(UnsafeRawBufferPointer(rebasing: $0[..<length]))
    }
    let time = content?.hit.time ?? context.cache.configuration.clock.now
    answers.insert(PreparedAnswer(key: plain.key, time: time, content: content))
    return content.flatMap { context.cache.use($0.hit) ? $0 : nil }
  }

  /// Prepares the answer as the general way would make it.
  private func prepare(_ bytes: UnsafeRawBufferPointer) -> PreparedAnswer.Content? {
    guard let head = try? RequestHead(bytes, limits: context.configuration.limits),
      case .cached(let request)? = try? connection.routing.route(head, framing: .none),
      !request.bypassesCache,
      let hit = context.cache.memoryHit(
        for: request.head, options: RequestOptions(partition: request.partition, redirectLimit: 0),
        longestBody: Self.longestBody),
      hit.nominatedFields.isSubset(of: FieldNameTable.keyedNames)
    else { return nil }
    var response = hit.head
    request.responseFields.apply(to: &response.headerFields)
    context.via.append(to: &response.headerFields)
    guard
      let bytes = ResponseWriter.whole(
        response, hit.body, allocator: connection.stream.channel.allocator)
    else { return nil }
    return PreparedAnswer.Content(
      hit: hit, bytes: bytes, target: head.target, status: response.status.code,
      outcome: hit.outcome.label)
  }
}

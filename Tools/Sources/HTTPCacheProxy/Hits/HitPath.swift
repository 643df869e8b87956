import HTTPCaching
import HTTPTypes
import NIOCore

/// Answers plain requests of one connection from memory, on the event loop. Every other request takes the slow path
/// (`ClientConnection`), whose answers have the same bytes.
final class HitPath {
  /// Maximum number of requests to answer in one turn, before other connections get theirs.
  private static let mostInTurn = 32

  private let connection: ClientConnection
  private let lookup: HitLookup

  private var context: ProxyContext { connection.context }

  init(_ connection: ClientConnection, answers: PreparedAnswers) {
    self.connection = connection
    lookup = HitLookup(
      context: connection.context, client: connection.client, form: .http1(minorVersion: 1), answers: answers,
      allocator: connection.stream.channel.allocator)
  }

  /// Answers the requests at the beginning of `buffer` and moves the reader index behind them.
  ///
  /// - Parameter write: hands bytes to the channel.
  /// - Returns: the last answer; flush it, and end the connection if it says so.
  func answer(_ buffer: inout ByteBuffer, write: (ByteBuffer) -> Void) -> PreparedAnswer.Content? {
    let (answers, isTrusted) = (lookup.answers, connection.client.isTrusted)
    var (count, last) = (0, nil as PreparedAnswer.Content?)
    while count < Self.mostInTurn, buffer.readableBytes > 0, !context.registry.isDraining,
      connection.stream.channel.isWritable
    {
      let started = NIODeadline.now()
      guard let length = buffer.withUnsafeReadableBytes({ answers.plain.find(in: $0, isTrusted: isTrusted) })
      else { break }
      // A slice of the same bytes, not a copy.
      let request = buffer.getSlice(at: buffer.readerIndex, length: length) ?? ByteBuffer()
      guard let content = lookup.content(for: answers.plain.key, { head(request) }) else {
        if let judged = lookup.takeJudged() { connection.takesNext(judged, length: length) }
        break
      }
      write(content.bytes)
      buffer.moveReaderIndex(forwardBy: length)
      count += 1
      connection.log.add(content, started: started) { head(request) }
      last = content
      // Further bytes are no request (RFC 9112 §9.6).
      if content.isLast { break }
    }
    return last
  }

  /// Ends the connection after the last answer.
  func end(after answer: PreparedAnswer.Content) {
    var silence = SilenceLimits()
    silence.client = answer.silence
    connection.end(silence: silence)
  }

  private func head(_ bytes: ByteBuffer) -> RequestHead? {
    let limits = context.configuration.limits
    return bytes.withUnsafeReadableBytes { try? RequestHead($0, limits: limits) }
  }
}

import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// A body whose trailers lack the fields that rules remove.
final class RuledBody: BodySource {
  private let source: any BodySource
  private let rules: FieldRules

  init(_ source: any BodySource, rules: FieldRules) {
    self.source = source
    self.rules = rules
  }

  var length: Int64? { source.length }
  var stored: StoredBodyRange? { source.stored }
  var bytesInMemory: BodyBytes? { source.bytesInMemory }

  var trailers: HTTPFields {
    var trailers = source.trailers
    rules.remove(from: &trailers)
    return trailers
  }

  func next() async throws -> BodyBytes? { try await source.next() }

  func cancel() { source.cancel() }
}

extension FieldRules {
  /// The body without the trailers that the rules remove.
  func body(_ body: MessageBody) -> MessageBody {
    removed.isEmpty ? body : MessageBody(RuledBody(body.source, rules: self))
  }
}

public import HTTPCacheStore
public import HTTPCaching
public import HTTPTypes

/// The answer of a `ScriptedUpstream`: events in the order in which they happen.
///
///     ScriptedResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: "hello")
///     ScriptedResponse.failure(.unreachable)
///     ScriptedResponse(body: "half, then nothing").cutShort(by: .protocol)
///     ScriptedResponse(headers: ["ETag": "\"1\""], body: "one").stalling(at: gate)
public struct ScriptedResponse: Sendable {
  /// An event on the wire.
  public enum Step: Sendable {
    /// Bytes of the body arrive.
    case bytes(BodyBytes)
    /// The answer pauses until the gate is opened.
    case wait(Gate)
    /// The transfer fails.
    case fail(UpstreamError)
  }

  /// The steps before the head arrives; bytes are ignored here.
  public var beforeHead: [Step]
  /// 1xx responses, sent before the head.
  public var interim: [HTTPResponse]
  /// Status and fields.
  public var head: HTTPResponse
  /// The steps after the head.
  public var steps: [Step]
  /// Trailer fields, available after the last step.
  public var trailers: HTTPFields
  /// The length in bytes that the body announces; nil for none.
  public var announcedLength: Int64?
  /// Whether the upstream states that it removed the content coding.
  public var isContentDecoded: Bool

  /// Makes a response from its parts.
  public init(
    head: HTTPResponse, steps: [Step], trailers: HTTPFields = [:], announcedLength: Int64? = nil
  ) {
    beforeHead = []
    interim = []
    self.head = head
    self.steps = steps
    self.trailers = trailers
    self.announcedLength = announcedLength
    isContentDecoded = false
  }

  /// Makes a response with a body in one piece, which announces its length.
  ///
  /// - Parameters:
  ///   - status: the status code.
  ///   - headers: names and values in order; a name that is not a token is an error of the test and traps.
  ///   - body: the text of the body.
  ///   - trailers: names and values, like `headers`.
  public init(
    status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: String = "",
    trailers: KeyValuePairs<String, String> = [:]
  ) {
    self.init(
      status: status, headers: headers, chunks: body.isEmpty ? [] : [BodyBytes(Array(body.utf8))],
      trailers: trailers)
    announcedLength = Int64(body.utf8.count)
  }

  /// Makes a response with a body in several pieces, which announces no length.
  public init(
    status: Int = 200, headers: KeyValuePairs<String, String> = [:], chunks: [BodyBytes],
    trailers: KeyValuePairs<String, String> = [:]
  ) {
    self.init(
      head: HTTPResponse(
        status: HTTPResponse.Status(code: status), headerFields: Self.fields(headers)),
      steps: chunks.map { .bytes($0) }, trailers: Self.fields(trailers))
  }

  /// A response whose head never arrives.
  public static func failure(_ error: UpstreamError) -> ScriptedResponse {
    var response = ScriptedResponse(status: 200)
    response.beforeHead = [.fail(error)]
    return response
  }

  /// A response whose head never arrives.
  public static func failure(_ kind: UpstreamError.Kind) -> ScriptedResponse {
    failure(UpstreamError(kind, "scripted"))
  }

  /// 304 with some fields (RFC 9110 §15.4.5).
  public static func notModified(
    headers: KeyValuePairs<String, String> = [:]
  ) -> ScriptedResponse {
    ScriptedResponse(status: 304, headers: headers)
  }

  /// This response, except that the transfer fails before the end of the body: after half of the bytes of a body that
  /// announces its length, as one made with `body:` does, otherwise after all its bytes.
  public func cutShort(by kind: UpstreamError.Kind = .protocol) -> ScriptedResponse {
    var copy = self
    // A reader that has all announced bytes never asks for the failure behind them.
    if let announcedLength, announcedLength <= bodyLength { copy.keep(Int(announcedLength / 2)) }
    copy.steps.append(.fail(UpstreamError(kind, "scripted")))
    return copy
  }

  private var bodyLength: Int64 {
    steps.reduce(0) { if case .bytes(let bytes) = $1 { $0 + Int64(bytes.count) } else { $0 } }
  }

  /// Leaves out all bytes of the body after the first `count`.
  private mutating func keep(_ count: Int) {
    var rest = count
    steps = steps.map { step in
      guard case .bytes(let bytes) = step else { return step }
      let kept = bytes.prefix(rest)
      rest -= kept.count
      return .bytes(kept)
    }
  }

  /// This response, except that the head, or the failure in its place, waits for a gate.
  public func stallingBeforeHead(at gate: Gate) -> ScriptedResponse {
    var copy = self
    let isFailure: (Step) -> Bool = { if case .fail = $0 { true } else { false } }
    copy.beforeHead.insert(
      .wait(gate), at: copy.beforeHead.firstIndex(where: isFailure) ?? copy.beforeHead.endIndex)
    return copy
  }

  /// This response, except that the body waits for a gate after `count` of its steps.
  public func stalling(after count: Int = 0, at gate: Gate) -> ScriptedResponse {
    var copy = self
    copy.steps.insert(.wait(gate), at: max(0, min(count, steps.count)))
    return copy
  }

  /// This response with 1xx responses before the head.
  public func preceded(by interim: [HTTPResponse]) -> ScriptedResponse {
    var copy = self
    copy.interim = interim
    return copy
  }

  /// This response as if the upstream had removed the content coding that the fields name.
  public func decoded() -> ScriptedResponse {
    var copy = self
    copy.isContentDecoded = true
    return copy
  }

  /// Fields from names and values.
  static func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs {
      guard let name = HTTPField.Name(name) else {
        preconditionFailure("'\(name)' in a scripted response is not a field name")
      }
      fields.append(HTTPField(name: name, value: value))
    }
    return fields
  }
}

import HTTPCacheSemantics
import HTTPCaching
import HTTPTypes

/// The state of an arriving answer of the origin. Its only I/O is the file for bytes whose reader is slow.
struct ReceiveState {
  enum Phase {
    case waitingForHead
    case receiving
    case ended
    case failed(UpstreamError)
  }

  /// The next action of a reader.
  enum Step {
    case take(BodyBytes)
    case wait
    case end
    case fail(UpstreamError)
  }

  let request: URLRequest
  /// Whether unread bytes may go to a file, as far as the caller is concerned.
  private let mayUseFiles: Bool
  private(set) var phase = Phase.waitingForHead
  /// The current task; late events of other tasks are dropped.
  var task: Int?
  private(set) var head: HTTPResponse?
  /// Interim responses that were not delivered yet.
  var interim: [HTTPResponse] = []
  /// Whether it is unknown if a 401 is the answer: its challenge arrives after its body.
  private(set) var isHeadWithheld = false
  /// The length of the delivered body in bytes; nil if unknown.
  private(set) var length: Int64?
  private(set) var isDecoded = false
  /// Whether Foundation must not be told to cancel the task.
  var isAnsweringRedirect = false
  private(set) var buffer = ReceiveBuffer()
  private var received: Int64 = 0

  init(_ request: URLRequest, mayUseFiles: Bool) {
    self.request = request
    self.mayUseFiles = mayUseFiles
  }

  /// The head, once it is final; nil before.
  var finalHead: HTTPResponse? { isHeadWithheld ? nil : head }

  /// Whether a reader has nothing to read now, but a running request may bring more.
  var mustWait: Bool {
    if case .receiving = phase { return buffer.count == 0 }
    return false
  }

  var isOver: Bool {
    switch phase {
    case .ended, .failed: true
    case .waitingForHead, .receiving: false
    }
  }

  // MARK: Events

  /// - Returns: whether to cancel the task; likewise for the other events.
  mutating func received(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse, let head = HTTPResponse(response) else {
      return fail(UpstreamError(.protocol, "not an HTTP response"))
    }
    let status = head.status.code
    if (100..<200).contains(status), status != 101 {
      interim.append(head)
      return false
    }
    self.head = head
    phase = .receiving
    isHeadWithheld = Self.withholdsUnauthorized && status == 401
    describeBody(head)
    if isDecoded, status == 206 {
      return fail(UpstreamError(.protocol, "a part of encoded content cannot be decoded"))
    }
    // A response with no-store must not reach a disk (RFC 9111 §5.2.2.5, §5.2.1.5).
    let asked: HTTPFields = [.cacheControl: request.value(forHTTPHeaderField: "Cache-Control") ?? ""]
    buffer.maySpill =
      mayUseFiles && !ResponseDirectives(head.headerFields, rules: CacheRules()).noStore
      && !RequestDirectives(asked).noStore
    return false
  }

  mutating func received(_ data: Data) -> Bool {
    guard case .receiving = phase else { return false }
    let expected = length.map { $0 - received }
    received += Int64(data.count)
    if received > length ?? .max {
      return fail(UpstreamError(.protocol, "the body is longer than its Content-Length"))
    }
    do { try buffer.append(data, expected: expected) } catch {
      return fail(Self.spillFailed(error))
    }
    return false
  }

  private static func spillFailed(_ error: any Error) -> UpstreamError {
    UpstreamError(
      .protocol, "bytes that were not read yet could not be kept in a temporary file", cause: error)
  }

  /// The task ended.
  ///
  /// - Parameter response: the response of the task, for heads that Foundation does not announce.
  mutating func completed(_ error: (any Error)?, response: URLResponse?) {
    if isOver { return }
    if let error {
      _ = fail(UpstreamError(error, hasHead: head != nil))
      return
    }
    if head == nil, let response { _ = received(response) }
    guard case .receiving = phase else {
      if !isOver { _ = fail(UpstreamError(.protocol, "no response")) }
      return
    }
    if let length, received != length {
      _ = fail(UpstreamError(.protocol, "the body ended after \(received) of \(length) bytes"))
      return
    }
    isHeadWithheld = false
    phase = .ended
    buffer.end()
  }

  /// A 401 is the final answer.
  mutating func endUnauthorized() {
    isHeadWithheld = false
    if case .receiving = phase { phase = .ended }
  }

  /// A request with credentials replaces the first one.
  mutating func restart(_ request: URLRequest) {
    self = ReceiveState(request, mayUseFiles: mayUseFiles)
  }

  mutating func fail(_ error: UpstreamError) -> Bool {
    if isOver { return false }
    phase = .failed(error)
    isHeadWithheld = false
    if error.kind == .cancelled { buffer = ReceiveBuffer() }
    return true
  }

  // MARK: Reading

  mutating func read() -> Step {
    do {
      if let bytes = try buffer.take() { return .take(bytes) }
    } catch {
      phase = .failed(Self.spillFailed(error))
    }
    switch phase {
    case .waitingForHead, .receiving: return .wait
    case .ended: return .end
    case .failed(let error): return .fail(error)
    }
  }

  // MARK: The length of the body

  private mutating func describeBody(_ head: HTTPResponse) {
    let status = head.status.code
    if request.httpMethod == "HEAD" || status == 204 || status == 304 {
      length = 0
      return
    }
    let coding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
    isDecoded = coding != "identity"
    length =
      isDecoded || head.headerFields.contains(.transferEncoding)
      ? nil : head.headerFields[.contentLength].flatMap { Int64($0) }
  }

  #if canImport(FoundationNetworking)
    private static let withholdsUnauthorized = true
  #else
    private static let withholdsUnauthorized = false
  #endif
}

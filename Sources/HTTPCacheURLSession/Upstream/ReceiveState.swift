import Foundation
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The state of an arriving answer of the origin, without I/O.
///
/// A body begins with the plain answer. If its reader falls behind, and the rest can be fetched with ranges,
/// the plain answer is stopped and the rest fetched in windows as the reader goes on.
struct ReceiveState {
  enum Phase {
    case waitingForHead
    case receiving
    /// No request is running, and there is more to fetch.
    case paused
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

  /// Number of unread bytes at which the plain answer is stopped.
  static let stopLimit = 2 << 20
  /// Number of unread bytes below which the next window is requested.
  static let lowLimit = 1 << 20
  private static let smallestWindow: Int64 = 1 << 20
  private static let largestWindow: Int64 = 4 << 20

  let request: URLRequest
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
  private var buffer = ReceiveBuffer()
  private var received: Int64 = 0
  private var windows: RangeWindows?
  private var window: Range<Int64>?
  private var windowReceived: Int64 = 0
  private var windowSize = smallestWindow
  /// Bytes to skip because the origin sends the whole body instead of a window.
  private var repeated: Int64 = 0

  init(_ request: URLRequest) { self.request = request }

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
    case .waitingForHead, .receiving, .paused: false
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
    if let window, let windows {
      return continued(by: head, windows, window)
    }
    self.head = head
    phase = .receiving
    isHeadWithheld = Self.withholdsUnauthorized && status == 401
    describeBody(head)
    if isDecoded, status == 206 {
      return fail(UpstreamError(.protocol, "a part of encoded content cannot be decoded"))
    }
    windows = isDecoded ? nil : RangeWindows(continuing: head, to: request, count: length)
    return false
  }

  private mutating func continued(
    by head: HTTPResponse, _ windows: RangeWindows, _ window: Range<Int64>
  ) -> Bool {
    if windows.isContinued(by: head, with: window) { return false }
    guard windows.isRepeated(by: head) else {
      return fail(UpstreamError(.protocol, "the representation changed while it was read"))
    }
    repeated = window.lowerBound
    self.window = window.lowerBound..<windows.extent.upperBound
    self.windows = nil
    return false
  }

  mutating func received(_ data: Data) -> Bool {
    guard case .receiving = phase else { return false }
    var data = data
    if repeated > 0 {
      let known = min(repeated, Int64(data.count))
      repeated -= known
      data = Data(data.dropFirst(Int(known)))
      if data.isEmpty { return false }
    }
    let expected = length.map { $0 - received }
    received += Int64(data.count)
    windowReceived += Int64(data.count)
    if received > length ?? .max || windowReceived > window.map({ Int64($0.count) }) ?? .max {
      return fail(UpstreamError(.protocol, "the body is longer than its Content-Length"))
    }
    buffer.append(data, expected: expected)
    guard window == nil, windows != nil, buffer.count > Self.stopLimit, let length,
      length - received >= Self.smallestWindow
    else { return false }
    phase = .paused
    return true
  }

  /// The task ended.
  ///
  /// - Parameters:
  ///   - response: the response of the task, for heads that Foundation does not announce.
  ///   - isReaderWaiting: whether the network is slower than the reader.
  mutating func completed(
    _ error: (any Error)?, response: URLResponse?, isReaderWaiting: Bool
  ) {
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
    if let window {
      guard windowReceived == window.count else {
        _ = fail(
          UpstreamError(.protocol, "the range ended after \(windowReceived) of \(window.count) bytes"))
        return
      }
      self.window = nil
      if isReaderWaiting { windowSize = min(windowSize * 2, Self.largestWindow) }
      if received != length {
        phase = .paused
        return
      }
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
  mutating func restart(_ request: URLRequest) { self = ReceiveState(request) }

  mutating func fail(_ error: UpstreamError) -> Bool {
    if isOver { return false }
    phase = .failed(error)
    isHeadWithheld = false
    if error.kind == .cancelled { buffer.removeAll() }
    return true
  }

  // MARK: Reading

  mutating func read() -> Step {
    if let bytes = buffer.take() { return .take(bytes) }
    switch phase {
    case .waitingForHead, .receiving, .paused: return .wait
    case .ended: return .end
    case .failed(let error): return .fail(error)
    }
  }

  /// The request for the next window; nil if none is needed now.
  mutating func nextWindow() -> URLRequest? {
    guard case .paused = phase, buffer.count < Self.lowLimit, let windows else { return nil }
    let start = windows.extent.lowerBound + received
    let range = start..<min(start + windowSize, windows.extent.upperBound)
    window = range
    windowReceived = 0
    phase = .receiving
    return windows.request(for: range)
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

public import HTTPTypes

/// A request on its way to the origin.
public struct UpstreamRequest: Sendable {
  /// Method, target and fields.
  public var head: HTTPRequest
  /// The body, streamed; nil for none.
  public var body: MessageBody?
  /// The most time to wait for the response's head; nil is the upstream's default.
  public var timeout: Duration?
  /// How urgent it is.
  public var priority: TaskPriority?
  /// What a door passes through the engine to itself.
  public var context: (any Sendable)?
  /// Called for each 1xx response, in order, before the final one (RFC 9110 §15.2).
  public var onInterim: (@Sendable (HTTPResponse) async -> Void)?

  /// Makes a request.
  public init(
    head: HTTPRequest, body: MessageBody? = nil, timeout: Duration? = nil,
    priority: TaskPriority? = nil, context: (any Sendable)? = nil,
    onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil
  ) {
    self.head = head
    self.body = body
    self.timeout = timeout
    self.priority = priority
    self.context = context
    self.onInterim = onInterim
  }
}

public import HTTPTypes

/// A request on its way to the origin.
public struct UpstreamRequest: Sendable {
  /// Method, target and fields.
  public var head: HTTPRequest
  /// The body, streamed; nil for none.
  public var body: MessageBody?
  /// The longest time to wait for the head of the response; nil is the upstream's default.
  public var timeout: Duration?
  /// The priority of the request.
  public var priority: TaskPriority?
  /// A value that a door passes through the engine to its upstream.
  public var context: (any Sendable)?
  /// Called for each 1xx response, in order, before the final one (RFC 9110 §15.2).
  public var onInterim: (@Sendable (HTTPResponse) async -> Void)?

  /// Whether the request may be sent again after a connection has failed: its method is idempotent, and it has no body
  /// (RFC 9110 §9.2.2).
  public var isRepeatable: Bool { body == nil && head.method.isIdempotent }

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

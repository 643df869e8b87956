public import HTTPTypes

/// What a caller may say about one request besides its policy.
public struct RequestOptions: Sendable {
  /// Keeps accounts or sites apart (RFC 9111 §7.2); empty for everybody.
  public var partition: String
  /// The most redirects to follow; 0 hands them to the caller, as a proxy must.
  public var redirectLimit: Int
  /// Whether a stored body may be used that was decoded before it was stored, as by `URLSession`.
  public var acceptsDecoded: Bool
  /// Whether a stored body may be used that has a content coding. Not for a door that cannot take it
  /// off, since its callers expect what `URLSession` gives them.
  public var acceptsEncoded: Bool
  /// The most time to wait for the head of a response; nil is the upstream's default. Waiting for the head of
  /// another request for the same resource counts, and so do several requests to the origin where one is
  /// not enough. When the time has passed, a stale response may answer (RFC 9111 §4.2.4, RFC 5861 §4); else
  /// `UpstreamError.timeout` is thrown. A body may take longer. Each redirect begins anew.
  public var timeout: Duration?
  /// How urgent it is.
  public var priority: TaskPriority?
  /// What a door passes through to its upstream.
  public var context: (any Sendable)?
  /// Has the last word on storing the response, after that of the cache's configuration.
  public var willStore: StoringHook?
  /// Whether a stale response that may be used while it is validated is used, and validated in the
  /// background (RFC 5861 §3). Without, it is validated first: for a door whose upstream does not
  /// outlive the request.
  public var validatesInBackground: Bool
  /// Called for each 1xx response of the origin.
  public var onInterim: (@Sendable (HTTPResponse) async -> Void)?

  /// Makes options.
  public init(
    partition: String = "", redirectLimit: Int = 20, acceptsDecoded: Bool = false,
    acceptsEncoded: Bool = true,
    timeout: Duration? = nil, priority: TaskPriority? = nil,
    context: (any Sendable)? = nil, willStore: StoringHook? = nil,
    validatesInBackground: Bool = true,
    onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil
  ) {
    self.partition = partition
    self.redirectLimit = redirectLimit
    self.acceptsDecoded = acceptsDecoded
    self.acceptsEncoded = acceptsEncoded
    self.timeout = timeout
    self.priority = priority
    self.context = context
    self.willStore = willStore
    self.validatesInBackground = validatesInBackground
    self.onInterim = onInterim
  }
}

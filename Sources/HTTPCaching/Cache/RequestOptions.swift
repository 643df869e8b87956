import HTTPCacheSemantics
public import HTTPTypes

/// Settings for one request, besides its policy.
public struct RequestOptions: Sendable {
  /// Separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
  public var partition: String
  /// Whether the partition is that of one user. A shared cache then treats it as the private cache of that user
  /// (RFC 9111 §1): it also stores there what is `private`, or answers a request with `Authorization`. Never set it for a
  /// partition that several users share, such as that of a site. Default false; without effect in a private cache, or
  /// without a partition.
  public var isOneUser = false
  /// The maximum number of redirects to follow; 0 returns redirects to the caller, as a proxy must.
  public var redirectLimit: Int
  /// The forms of a stored body that the request accepts.
  public var bodyForms: BodyForms
  /// The longest time to wait for the head of a response; nil is the upstream's default. Time spent waiting for
  /// a leader counts, and so does each request to the origin if several are needed. After this time, a stale
  /// response may answer (RFC 9111 §4.2.4, RFC 5861 §4); otherwise `UpstreamError.timeout` is thrown. The time
  /// of the body does not count. Each redirect starts a new limit.
  public var timeout: Duration?
  /// The priority of the request.
  public var priority: TaskPriority?
  /// A value that a door passes to its upstream.
  public var context: (any Sendable)?
  /// Decides whether and how the response is stored, after the hook of the cache's configuration.
  public var willStore: StoringHook?
  /// Whether a stale response is used while it is validated in the background (RFC 5861 §3). If false, it is
  /// validated first: for a door whose upstream does not outlive the request.
  public var validatesInBackground: Bool
  /// Called for each 1xx response of the origin.
  public var onInterim: (@Sendable (HTTPResponse) async -> Void)?
  /// Adds fields to each request before the cache looks, the first one and that of each redirect: fields of that one URL,
  /// such as its cookies. The next redirect does not get them.
  public var addFields: (@Sendable (inout HTTPRequest) -> Void)?
  /// Called with each redirect that is followed, and the request that follows it, which it may change: its URL, method and
  /// fields. The request has lost its credentials if the redirect leads to another origin. The next redirect starts from
  /// what this function leaves.
  public var willFollow: (@Sendable (HTTPResponse, inout HTTPRequest) -> Void)?
  /// Makes the content of the request once more, to follow a redirect that keeps it: 307 and 308, and 301 and 302 for other
  /// methods than POST (RFC 9110 §15.4). Nil: such a redirect of a request with content is returned to the caller, except
  /// that of a QUERY whose content is in memory.
  public var contentAgain: (@Sendable () throws -> MessageBody)?
  /// Runs the work that goes on beside the request for a small body (64 KiB); nil is the executor of the cache. For a door
  /// that runs a request on one thread: storing then changes threads only for the commit. As for that of the cache, no job may
  /// run before `enqueue` returns.
  public var executor: (any TaskExecutor)?
  /// The way to the origin for validations in the background, for a door whose upstream does not outlive the
  /// request; nil is the upstream of the request.
  package var backgroundUpstream: (any Upstream)?
  /// Whether only a response to the same credentials answers, as with `CacheRules.separatesCredentials`.
  package var separatesCredentials = false

  /// The request with the fields of `addFields`.
  public func adding(to request: HTTPRequest) -> HTTPRequest {
    guard let addFields else { return request }
    var request = request
    addFields(&request)
    return request
  }

  /// Whether a cache with these rules decides by those of a private cache.
  func isPrivate(under rules: CacheRules) -> Bool { isOneUser && !partition.isEmpty && rules.mode == .shared }

  /// Makes options.
  public init(
    partition: String = "", redirectLimit: Int = 20, bodyForms: BodyForms = .asSent,
    timeout: Duration? = nil, priority: TaskPriority? = nil,
    context: (any Sendable)? = nil, willStore: StoringHook? = nil,
    validatesInBackground: Bool = true,
    onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil
  ) {
    self.partition = partition
    self.redirectLimit = redirectLimit
    self.bodyForms = bodyForms
    self.timeout = timeout
    self.priority = priority
    self.context = context
    self.willStore = willStore
    self.validatesInBackground = validatesInBackground
    self.onInterim = onInterim
  }
}

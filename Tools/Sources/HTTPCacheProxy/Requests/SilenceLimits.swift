public import NIOCore

/// How long a peer may be silent.
public enum SilenceLimit: Sendable, Hashable {
  /// For as long as the connection lives: the system ends it if the peer no longer confirms keep-alives (`KeepAlive`).
  case unlimited
  /// For this time.
  case after(TimeAmount)

  /// The time; nil without a limit.
  public var time: TimeAmount? { if case .after(let time) = self { time } else { nil } }
}

/// The limits of silence that a route has of its own; nil is the server's.
public struct SilenceLimits: Sendable, Hashable {
  /// Of an origin: between two pieces of a response's body, event streams included, or until it takes the next piece of
  /// a request's.
  public var origin: SilenceLimit?
  /// Of an origin before the head of a response, as `NIOUpstream.Configuration.headTimeout`.
  public var head: TimeAmount?
  /// The limit for a client: between two pieces of a request's body, or until it takes the next piece of a response.
  public var client: TimeAmount?
  /// Of both ends of a tunnel or an upgraded connection.
  public var tunnel: SilenceLimit?

  /// Makes limits that are the server's.
  public init() {}
}

extension NIODeadline {
  /// The end of a silence that begins now; `distantFuture` for one without an end.
  func after(_ silence: TimeAmount?) -> NIODeadline { silence.map { self + $0 } ?? .distantFuture }
}

import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import NIOCore

/// Counts finished requests of one client, and adds lines to the access log.
struct RequestLog: Sendable {
  private let context: ProxyContext
  private let client: ClientSide
  private let isHTTP2: Bool
  private let traffic: Traffic.Part

  init(_ context: ProxyContext, client: ClientSide, isHTTP2: Bool, loop: any EventLoop) {
    self.context = context
    self.client = client
    self.isHTTP2 = isHTTP2
    traffic = context.traffic.part(of: loop)
  }

  /// The explanations of a request in its line.
  enum Reason: Sendable {
    /// Why the response was not stored.
    case notStored(String?)
    /// Why the request was refused.
    case refused(String?)
  }

  /// Adds a finished request.
  func add(
    _ head: RequestHead?, status: Int, bytes: Int64, started: NIODeadline, outcome: String,
    reason: Reason = .notStored(nil)
  ) {
    var entry = AccessLog.Entry(
      client: client.sourceText(of: head?.fields) ?? "-", method: head?.method.rawValue ?? "-",
      target: head?.target ?? "-",
      status: status, bytes: bytes, microseconds: (NIODeadline.now() - started).nanoseconds / 1000,
      outcome: outcome)
    switch reason {
    case .notStored(let text): entry.refusal = text
    case .refused(let text): entry.reason = text
    }
    if let head {
      entry.host = client.host(of: head)
      entry.version = isHTTP2 ? "HTTP/2.0" : "HTTP/1.\(head.minorVersion)"
      entry.fields = context.configuration.accessLog.fieldNames.map { head.fields[$0] }
    }
    add(entry)
  }

  /// Adds a prepared answer.
  ///
  /// - Parameter head: makes the head of the request, if the log shows its fields, or they name the client.
  func add(_ answer: PreparedAnswer.Content, started: NIODeadline, head: () -> RequestHead?) {
    var entry = AccessLog.Entry(
      client: client.text ?? "-", method: answer.method.rawValue, target: answer.target,
      status: answer.status,
      bytes: Int64(answer.hit.body.count),
      microseconds: (NIODeadline.now() - started).nanoseconds / 1000, outcome: answer.outcome)
    entry.host = answer.host
    if isHTTP2 { entry.version = "HTTP/2.0" }
    let names = context.configuration.accessLog.fieldNames
    if !names.isEmpty || client.isTrusted {
      let head = head()
      entry.client = client.sourceText(of: head?.fields) ?? "-"
      entry.fields = names.map { head?.fields[$0] }
    }
    add(entry)
  }

  private func add(_ entry: AccessLog.Entry) {
    traffic.add(entry)
    context.feed.send(entry)
    if context.configuration.accessLog.isOn { context.configuration.accessLog.add(entry) }
  }
}

extension ClientSide {
  /// The host that a client asks for: of a client behind a trusted proxy, the one that the proxy tells.
  func host(of head: RequestHead) -> String {
    let origin = head.target.utf8.first == UInt8(ascii: "/") ? nil : Origin.split(head.target)?.origin
    let named = origin?.authority ?? head.fields.hosts.first ?? ""
    guard isTrusted else { return named }
    return ForwardedRequest(self, host: Authority(named), fields: head.fields).host ?? named
  }

  /// A request for messages of the log: method, host and target. A gateway serves several hosts.
  func requestText(of head: RequestHead) -> String {
    let host = host(of: head)
    // A target that names its origin needs no host before it.
    guard head.target.hasPrefix("/"), !host.isEmpty else { return "\(head.method) \(head.target)" }
    return "\(head.method) \(host) \(head.target)"
  }
}

import HTTPCacheSemantics
import HTTPCaching
import Logging
import NIOCore
import NIOHTTP1

/// Sends the answer to an admin request, and closes the connection.
struct AdminReply: Sendable {
  /// Maximum time to send a request, and to take its answer.
  static let patience = TimeAmount.seconds(30)

  let request: AdminRequest
  let channel: any Channel
  let logger: Logger
  let refusals: MessageLimit

  func send(_ response: AdminResponse) {
    log(response)
    var headers: HTTPHeaders = [
      "Content-Type": response.contentType,
      "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Connection": "close",
      "Date": SystemClock().now.httpDate,
    ]
    if response.rest == nil {
      headers.add(name: "Content-Length", value: "\(response.body.utf8.count)")
    }
    if let policy = response.contentSecurityPolicy {
      headers.add(name: "Content-Security-Policy", value: policy)
    }
    if let allow = response.allow { headers.add(name: "Allow", value: allow) }
    if response.status == 401 { headers.add(name: "WWW-Authenticate", value: "Bearer") }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if request.method != "HEAD" {
      let body = channel.allocator.buffer(string: response.body)
      channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
    }
    guard let rest = response.rest, request.method != "HEAD" else { return end() }
    channel.flush()
    let sending = Task {
      for await text in rest where await send(text) == false { return }
      end()
    }
    channel.closeFuture.whenComplete { _ in sending.cancel() }
  }

  /// Logs requests to change something, and the first refusal of a token or a host in a minute: the access log has the
  /// clients of the proxy alone.
  private func log(_ response: AdminResponse) {
    let isRefused = response.status == 401 || response.status == 403
    guard isRefused ? refusals.allows("\(response.status)") : !["GET", "HEAD"].contains(request.method) else {
      return
    }
    let client = channel.remoteAddress?.ipAddress ?? "-"
    let texts = [request.target.bounded, String(response.body.prefix { $0 != "\n" })]
    let shown = texts.map { LogText.hidingCredentials($0) }
    logger.log(
      level: isRefused ? .warning : .notice, "admin: \(request.method) \(shown[0]) by \(client): \(shown[1])")
  }

  /// Sends a part of the body; a client that does not take it in time loses its connection.
  ///
  /// - Returns: false once the connection is closed.
  private func send(_ text: String) async -> Bool {
    let timer = channel.eventLoop.scheduleTask(in: Self.patience) { [channel] in channel.close(promise: nil) }
    defer { timer.cancel() }
    let part = HTTPServerResponsePart.body(.byteBuffer(channel.allocator.buffer(string: text)))
    do {
      try await channel.writeAndFlush(part).get()
      return true
    } catch {
      return false
    }
  }

  private func end() {
    let timer = channel.eventLoop.scheduleTask(in: Self.patience) { [channel] in channel.close(promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { [channel] _ in
      timer.cancel()
      channel.close(promise: nil)
    }
  }
}

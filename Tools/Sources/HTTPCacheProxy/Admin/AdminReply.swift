import NIOCore
import NIOHTTP1

/// Sends the answer to an admin request, and closes the connection.
struct AdminReply: Sendable {
  /// Maximum time to send a request, and to take its answer.
  static let patience = TimeAmount.seconds(30)

  let request: AdminRequest
  let channel: any Channel

  func send(_ response: AdminResponse) {
    var headers: HTTPHeaders = [
      "Content-Type": response.contentType, "Content-Length": "\(response.body.utf8.count)",
      "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Connection": "close",
      "Date": HTTPDate.now(),
    ]
    if response.status == 401 { headers.add(name: "WWW-Authenticate", value: "Bearer") }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if request.method != "HEAD" {
      let body = channel.allocator.buffer(string: response.body)
      channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
    }
    let timer = channel.eventLoop.scheduleTask(in: Self.patience) { [channel] in channel.close(promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { [channel] _ in
      timer.cancel()
      channel.close(promise: nil)
    }
  }
}

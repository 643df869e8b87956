package import HTTPTypes
package import Hummingbird
import NIOCore

/// The routes of a server.
package typealias Routes = Router<BasicRequestContext>

/// A response with fields and a text.
package func answer(
  _ text: String, _ fields: HTTPFields = [.cacheControl: "max-age=60"],
  status: HTTPResponse.Status = .ok
) -> Response {
  Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}

/// A response that does not end before its client leaves.
///
/// - Parameter stopped: called when the client has left.
package func endlessAnswer(stopped: @escaping @Sendable () -> Void) -> Response {
  Response(
    status: .ok, headers: [.cacheControl: "no-store"],
    body: ResponseBody { writer in
      do {
        while true { try await writer.write(ByteBuffer(repeating: 1, count: 64 << 10)) }
      } catch {
        stopped()
        throw error
      }
    })
}

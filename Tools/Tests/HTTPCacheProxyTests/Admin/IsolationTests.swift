import HTTPCacheProxy
import NIOCore
import NIOPosix
import ServerTesting
import Testing

/// Starts of an admin listener from every isolation, with a closure that waits for what belongs to the caller.
@Suite("The admin listener can be started from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  /// As the main function of a program.
  @MainActor private enum Program {
    static func main() async throws -> Int {
      try await asked(
        try await AdminServer.start(host: "127.0.0.1", port: 0, access: pageAccess, group: group) { _ in
          await answer()
        })
    }

    static func answer() -> AdminResponse { AdminResponse(status: 203, body: "") }
  }

  @MainActor private final class Model {
    private let status = 203

    func run() async throws -> Int {
      try await asked(
        try await AdminServer.start(host: "127.0.0.1", port: 0, access: pageAccess, group: group) { _ in
          await self.answer()
        })
    }

    private func answer() -> AdminResponse { AdminResponse(status: status, body: "") }
  }

  private actor Runner {
    private let status = 203

    func run() async throws -> Int {
      try await asked(
        try await AdminServer.start(host: "127.0.0.1", port: 0, access: pageAccess, group: group) { _ in
          await self.answer()
        })
    }

    private func answer() -> AdminResponse { AdminResponse(status: status, body: "") }
  }

  private nonisolated func run() async throws -> Int {
    try await asked(
      try await AdminServer.start(host: "127.0.0.1", port: 0, access: pageAccess, group: group) { _ in
        AdminResponse(status: 203, body: "")
      })
  }

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main() == 203)
    #expect(try await Model().run() == 203)
    #expect(try await Runner().run() == 203)
    #expect(try await run() == 203)
  }
}

private let pageAccess = AdminAccess(token: nil, open: ["/page"])
private let group = MultiThreadedEventLoopGroup.singleton

/// The status that a listener answers with; shuts it down.
private func asked(_ server: AdminServer) async throws -> Int {
  let answer: String
  do {
    let client = try RawPeer.connect(try #require(server.port))
    client.send("GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = try await client.receiveAll()
  } catch {
    await server.shutDown()
    throw error
  }
  await server.shutDown()
  return try #require(Int(answer.split(separator: " ").dropFirst().first ?? ""))
}

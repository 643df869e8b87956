import Foundation
import HTTPCaching
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct DriveDoorTests {
  private func drive(
    _ url: String, _ headers: String = "[]", mode: String = "default"
  ) throws -> DriveRequest {
    let line = """
      {"id":7,"method":"GET","url":"\(url)","headers":\(headers),"body":null,"cache_mode":"\(mode)"}
      """
    return try JSONDecoder().decode(DriveRequest.self, from: Data(line.utf8))
  }

  private func withDoor(
    _ name: DriveDoorName, _ body: (any DriveDoor) async throws -> Void
  ) async throws {
    let door = try name.open(HTTPCache.open(HTTPCache.Configuration()))
    let result: Result<Void, any Error>
    do { result = .success(try await body(door)) } catch { result = .failure(error) }
    try await door.close()
    try result.get()
  }

  @Test(
    "each door answers from the store, and hands over a miss that must not load as 504",
    arguments: DriveDoorName.allCases)
  func store(_ name: DriveDoorName) async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\nX-A: b\r\n\r\nhi")
    let url = origin.base + "/a"
    try await withDoor(name) { door in
      let first = try await door.reply(to: drive(url))
      #expect(first.id == 7 && first.status == 200 && first.body == "hi")
      #expect(first.headers?.contains { $0[0].lowercased() == "x-a" && $0[1] == "b" } == true)
      try await origin.close()
      #expect(try await door.reply(to: drive(url)).body == "hi")
      #expect(try await door.reply(to: drive(url, mode: "force-cache")).body == "hi")
      do {
        let reply = try await door.reply(to: drive(origin.base + "/b", mode: "only-if-cached"))
        #expect(reply.status == 504)
      } catch is UpstreamError {}
    }
  }

  @Test(
    "a line that is no request gets a reply that says what is wrong with it",
    arguments: [
      ("nix", "the line is not JSON", 0), ("[]", "the line is not an object of JSON", 0),
      (#"{"id":7,"method":"GET","headers":[]}"#, "the key url is missing", 7),
      (
        #"{"id":7,"method":"GET","url":"http://a/","headers":[7]}"#, "the value of headers has another type",
        7
      ),
    ])
  func invalid(line: String, message: String, id: Int) async throws {
    try await withDoor(.engine) { door in
      let lines = LineRecorder()
      let console = Console(output: { lines.write($0) }, error: { _ in })
      await Console.$current.withValue(console) { await Driver(door).perform(line) }
      let reply = try JSONSerialization.jsonObject(with: Data(lines.text.utf8)) as? [String: Any]
      #expect(reply?["error"] as? String == message && reply?["id"] as? Int == id, "\(lines.text)")
    }
  }

  @Test("no door follows redirects", arguments: DriveDoorName.allCases)
  func redirect(_ name: DriveDoorName) async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    try await withDoor(name) { door in
      let reply = try await door.reply(to: drive(origin.base + "/a"))
      #expect(reply.status == 302)
    }
  }

  @Test(
    "an origin that closes without an answer is disconnected: what is stale answers",
    arguments: DriveDoorName.allCases)
  func disconnected(_ name: DriveDoorName) async throws {
    let stale = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nContent-Length: 2\r\n\r\nhi"
    let origin = try await ScriptedOrigin(stale, "")
    try await withDoor(name) { door in
      let url = origin.base + "/a"
      #expect(try await door.reply(to: drive(url)).body == "hi")
      let second = try await door.reply(to: drive(url))
      #expect(second.status == 200 && second.body == "hi")
    }
  }
}

import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Bytes that came before a connection broke.
@Suite(.timeLimit(.minutes(10))) struct ResetTests {
  @Test(
    "all bytes that the kernel had are in the part, whatever their burst, and the next run continues behind them",
    arguments: [1, 1_000, 20_000, 65_536, 300_000, 1_000_000], [false, true])
  func burst(count: Int, isChunked: Bool) async throws {
    let directory = try ScratchFolder()
    let content = ServedFile.bytes(1_500_000)
    let origin = try RawOrigin()
    let arguments = ["get", origin.base, "--dir", directory.path("cache"), "-o", directory.path("out")]
    async let broken = CommandRun(arguments)
    try await Self.reset(origin, after: Self.first(content, count, isChunked: isChunked))
    await broken.expect(.brokenProtocol)
    #expect(directory.file("out.httpcache-part/body").bytes == Array(content.prefix(count)))
    #expect(directory.file("out").bytes == nil)
    async let whole = CommandRun(arguments)
    let (peer, head) = try await origin.acceptRequest()
    #expect(head.contains("bytes=\(count)-"), "\(head)")
    await peer.send(Self.rest(content, from: count))
    peer.finish()
    await whole.expectSuccess()
    #expect(directory.file("out").bytes == content)
  }

  /// Sends bytes to the next client, and resets the connection when the client's kernel has acknowledged all of them.
  private static func reset(_ origin: RawOrigin, after bytes: [UInt8]) async throws {
    let (peer, _) = try await origin.acceptRequest()
    await peer.send(bytes)
    await peer.acknowledged()
    peer.resetWhenClosed()
  }

  private static func first(_ content: [UInt8], _ count: Int, isChunked: Bool) -> [UInt8] {
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(content.count)"
    let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: no-store\r\n\(framing)\r\n\r\n"
    let size = isChunked ? "\(String(content.count, radix: 16))\r\n" : ""
    return Array((head + size).utf8) + content.prefix(count)
  }

  private static func rest(_ content: [UInt8], from start: Int) -> [UInt8] {
    let range = "Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)"
    let fields = "ETag: \"1\"\r\nCache-Control: no-store\r\nContent-Length: \(content.count - start)"
    let head = "HTTP/1.1 206 Part\r\n\(range)\r\n\(fields)\r\nConnection: close\r\n\r\n"
    return Array(head.utf8) + content[start...]
  }
}

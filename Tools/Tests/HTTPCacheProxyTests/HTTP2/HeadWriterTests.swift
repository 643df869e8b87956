import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Heads of HTTP/2 as NIOHTTP2 cannot write them (RFC 9113 §6.10)", .timeLimit(.minutes(10)))
struct HeadWriterTests {
  private func written(_ frames: [UInt8]..., isClient: Bool = false) throws -> [UInt8] {
    let channel = EmbeddedChannel(handler: HeadWriter(MessageLimits(), isClient: isClient))
    for frame in frames { try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(bytes: frame))) }
    var bytes: [UInt8] = []
    while case .byteBuffer(let part)? = try channel.readOutbound(as: IOData.self) {
      bytes += Array(buffer: part)
    }
    return bytes
  }

  @Test(
    "a long head is HEADERS and CONTINUATION of at most 16 KiB", arguments: [16_384, 16_385, 32_768, 60_000])
  func cut(_ size: Int) throws {
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let bytes = try written(HTTP2Peer.frame(1, flags: 5, stream: 7, payload: payload))
    var (rest, content, ends) = (bytes[...], [UInt8](), false)
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let count = Int(head[1]) << 8 | Int(head[2])
      #expect(!ends && head[0] == 0 && count <= 16_384 && head[8] == 7)
      #expect(head[3] == (content.isEmpty ? 1 : 9))
      // END_STREAM belongs to HEADERS.
      #expect(head[4] & 1 == (content.isEmpty ? 1 : 0))
      ends = head[4] & 4 == 4
      content += rest.dropFirst(9).prefix(count)
      rest = rest.dropFirst(9 + count)
    }
    #expect(ends && content == payload)
  }

  @Test("SETTINGS name the limit of heads, once, behind a preface too; other frames stay as they are")
  func settings() throws {
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    func settings(_ size: [UInt8]) -> [UInt8] {
      HTTP2Peer.frame(4, payload: [0, 2, 0, 0, 0, 0, 0, 6] + size)
    }
    let data = HTTP2Peer.frame(0, stream: 1, payload: [UInt8](repeating: 0, count: 20_000))
    let bytes = try written(preface, settings([0, 16, 0, 0]), settings([0, 16, 0, 0]), data)
    #expect(bytes == preface + settings([0, 1, 0, 0]) + settings([0, 16, 0, 0]) + data)
  }

  @Test("a client leaves out its first confirmation alone, a server none")
  func confirmation() throws {
    let (settings, confirmation) = (HTTP2Peer.frame(4), HTTP2Peer.frame(4, flags: 1))
    let ping = HTTP2Peer.frame(6, flags: 1, payload: [UInt8](repeating: 1, count: 8))
    let frames = settings + ping + confirmation
    #expect(try written(settings, confirmation, ping, confirmation, isClient: true) == frames)
    #expect(try written(settings, ping, confirmation) == frames)
  }
}

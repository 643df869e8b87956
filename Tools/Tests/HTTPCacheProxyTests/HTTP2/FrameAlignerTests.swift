import HTTPCacheTesting
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Frames of HTTP/2 arrive whole", .timeLimit(.minutes(10))) struct FrameAlignerTests {
  private func frame(_ length: Int, type: UInt8 = 1) -> [UInt8] {
    HTTP2Peer.frame(type, stream: 1, payload: [UInt8](repeating: UInt8(length & 255), count: length))
  }

  @Test("however the bytes are cut, whole frames come out, and less than one is kept", arguments: 1...40)
  func cuts(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let hasPreface = seed.isMultiple(of: 2)
    var (sent, ends): ([UInt8], Set<Int>) = ([], [0])
    if hasPreface {
      sent += [UInt8](repeating: 80, count: FrameAligner.preface)
      ends.insert(sent.count)
    }
    for _ in 0..<60 {
      let isData = Bool.random(using: &random)
      let length = Int.random(in: 0...(Bool.random(using: &random) ? 20 : 16_384), using: &random)
      // DATA may be cut anywhere behind its head.
      if isData { ends.formUnion(sent.count + 9...sent.count + 9 + length) }
      sent += frame(length, type: isData ? 0 : 1)
      ends.insert(sent.count)
    }
    let aligner = FrameAligner(prefaceLength: hasPreface ? FrameAligner.preface : 0)
    let channel = EmbeddedChannel(handler: aligner)
    var (received, position): ([UInt8], Int) = ([], 0)
    while position < sent.count {
      let count = min(sent.count - position, Int.random(in: 1...(seed < 20 ? 30 : 40_000), using: &random))
      try channel.writeInbound(ByteBuffer(bytes: sent[position..<position + count]))
      position += count
      while let part = try channel.readInbound(as: ByteBuffer.self) {
        received += Array(buffer: part)
        #expect(ends.contains(received.count))
      }
      #expect(received.count + aligner.keptBytes == position && aligner.keptBytes < 16_393)
    }
    #expect(received == sent)
  }

  @Test("the payload of DATA passes as it arrives")
  func data() throws {
    let aligner = FrameAligner()
    let channel = EmbeddedChannel(handler: aligner)
    let bytes = frame(100, type: 0) + frame(5)
    try channel.writeInbound(ByteBuffer(bytes: bytes[..<4]))
    #expect(try channel.readInbound(as: ByteBuffer.self) == nil && aligner.keptBytes == 4)
    try channel.writeInbound(ByteBuffer(bytes: bytes[4..<30]))
    var count = 0
    while let part = try channel.readInbound(as: ByteBuffer.self) { count += part.readableBytes }
    #expect(count == 30 && aligner.keptBytes == 0)
    try channel.writeInbound(ByteBuffer(bytes: bytes[30..<112]))
    while let part = try channel.readInbound(as: ByteBuffer.self) { count += part.readableBytes }
    #expect(count == 109 && aligner.keptBytes == 3)
  }

  @Test(
    "a peer's header table counts as 4,096 bytes at most, whole frame or cut, any place (RFC 7541 §4.2)",
    arguments: [0, 5, 12])
  func headerTable(_ cut: Int) throws {
    func settings(_ table: [UInt8], and more: [UInt8] = []) -> [UInt8] {
      HTTP2Peer.frame(
        HTTP2Peer.settings, payload: [0, 4, 0, 0, 255, 255, 0, 1] + table + [0, 1] + table + more)
    }
    let channel = EmbeddedChannel(handler: FrameAligner())
    for (given, counted) in [([255, 255, 255, 255], [0, 0, 16, 0]), ([0, 0, 8, 0], [0, 0, 8, 0])]
      as [([UInt8], [UInt8])]
    {
      let bytes = frame(3) + settings(given) + frame(3)
      try channel.writeInbound(ByteBuffer(bytes: bytes[..<(12 + cut)]))
      try channel.writeInbound(ByteBuffer(bytes: bytes[(12 + cut)...]))
      var received: [UInt8] = []
      while let part = try channel.readInbound(as: ByteBuffer.self) { received += Array(buffer: part) }
      let isFirst = given[0] == 255
      let passed =
        isFirst ? settings(counted, and: Self.largestFrames) + Self.confirmation : settings(counted)
      #expect(received == frame(3) + passed + frame(3))
    }
  }

  private static let largestFrames: [UInt8] = [0, 5, 0, 255, 255, 255]
  private static let confirmation = HTTP2Peer.frame(HTTP2Peer.settings, flags: 1)

  @Test("a later size of frames counts as the largest one, unless it is not allowed")
  func frameSizes() throws {
    func settings(_ size: [UInt8]) -> [UInt8] {
      HTTP2Peer.frame(HTTP2Peer.settings, payload: [0, 5] + size)
    }
    let channel = EmbeddedChannel(handler: FrameAligner())
    let sizes: [[UInt8]] = [[0, 0, 64, 0], [0, 0, 128, 0], [0, 0, 63, 255], [1, 0, 0, 0]]
    try channel.writeInbound(ByteBuffer(bytes: sizes.flatMap(settings)))
    var received: [UInt8] = []
    while let part = try channel.readInbound(as: ByteBuffer.self) { received += Array(buffer: part) }
    let first = HTTP2Peer.frame(HTTP2Peer.settings, payload: Self.largestFrames + Self.largestFrames)
    let later = HTTP2Peer.frame(HTTP2Peer.settings, payload: Self.largestFrames)
    #expect(received == first + Self.confirmation + later + settings(sizes[2]) + settings(sizes[3]))
  }

  @Test(
    "SETTINGS count as confirmed behind the peer's first ones, and its own first confirmation is left out",
    arguments: 0...80)
  func confirmation(_ cut: Int) throws {
    let settings = HTTP2Peer.frame(HTTP2Peer.settings, payload: [0, 4, 0, 0, 255, 255])
    let empty = HTTP2Peer.frame(HTTP2Peer.settings)
    let preface = [UInt8](repeating: 80, count: FrameAligner.preface)
    let sent = preface + settings + frame(3) + Self.confirmation + empty + Self.confirmation
    let channel = EmbeddedChannel(handler: FrameAligner(prefaceLength: FrameAligner.preface))
    try channel.writeInbound(ByteBuffer(bytes: sent[..<min(cut, sent.count)]))
    try channel.writeInbound(ByteBuffer(bytes: sent[min(cut, sent.count)...]))
    var received: [UInt8] = []
    while let part = try channel.readInbound(as: ByteBuffer.self) { received += Array(buffer: part) }
    let counted = HTTP2Peer.frame(
      HTTP2Peer.settings, payload: [0, 4, 0, 0, 255, 255] + Self.largestFrames)
    #expect(
      received == preface + counted + Self.confirmation + frame(3) + empty + Self.confirmation)
  }

  @Test("a client gets SETTINGS at once, those of the server pass later, its first confirmation is left out")
  func client() throws {
    let aligner = FrameAligner()
    let channel = EmbeddedChannel(handler: aligner)
    aligner.begin()
    let settings = HTTP2Peer.frame(HTTP2Peer.settings, payload: [0, 4, 0, 0, 255, 255])
    let sent = settings + Self.confirmation + frame(3) + Self.confirmation
    try channel.writeInbound(ByteBuffer(bytes: sent))
    var received: [UInt8] = []
    while let part = try channel.readInbound(as: ByteBuffer.self) { received += Array(buffer: part) }
    let largest = HTTP2Peer.frame(HTTP2Peer.settings, payload: Self.largestFrames)
    #expect(received == largest + Self.confirmation + settings + frame(3) + Self.confirmation)
  }

  /// A connection whose heads have 20 s.
  private func connection() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: FrameAligner(headTimeout: .seconds(20)))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private static let headWithoutEnd = HTTP2Peer.frame(HTTP2Peer.headers, stream: 1, payload: [1, 2])
  private static let headEnd = HTTP2Peer.frame(HTTP2Peer.continuation, flags: 4, stream: 1, payload: [3])

  @Test(
    "a connection ends after the time for a head, wherever the head is cut (RFC 9113 §6.10)",
    arguments: [
      headWithoutEnd, Array(headWithoutEnd[..<5]), headWithoutEnd + headEnd[..<5],
      headWithoutEnd + HTTP2Peer.frame(HTTP2Peer.continuation, stream: 1, payload: [3]),
    ] as [[UInt8]])
  func unfinishedHead(bytes: [UInt8]) throws {
    let channel = try connection()
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    channel.embeddedEventLoop.advanceTime(by: .seconds(19))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("each head has its own time, and other frames have none")
  func wholeHeads() throws {
    let channel = try connection()
    try channel.writeInbound(ByteBuffer(bytes: Self.headWithoutEnd))
    for _ in 0..<5 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(19))
      try channel.writeInbound(ByteBuffer(bytes: Self.headEnd + Self.headWithoutEnd))
    }
    try channel.writeInbound(ByteBuffer(bytes: Self.headEnd + HTTP2Peer.frame(HTTP2Peer.ping)[..<5]))
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    _ = try channel.finish()
  }

  @Test("a frame that is too long passes on with its first bytes, to be refused")
  func tooLong() throws {
    let aligner = FrameAligner()
    let channel = EmbeddedChannel(handler: aligner)
    try channel.writeInbound(ByteBuffer(bytes: frame(16_385).prefix(9)))
    #expect(try channel.readInbound(as: ByteBuffer.self)?.readableBytes == 9)
    #expect(aligner.keptBytes == 0)
  }
}

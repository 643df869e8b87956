import NIOCore
import NIOHPACK

/// A client of HTTP/2 that sends exactly the frames it is told to, and the bytes of frames for an origin.
package final class HTTP2Peer {
  package struct Frame: Sendable {
    package let type: UInt8
    package let flags: UInt8
    package let stream: UInt32
    package let payload: [UInt8]
  }

  /// A response as far as it came.
  package struct Response: Sendable {
    package var interim: [String] = []
    /// The fields of all interim responses.
    package var interimFields: [(String, String)] = []
    package var status = ""
    package var fields: [(String, String)] = []
    package var body: [UInt8] = []
    package var trailers: [(String, String)] = []
    /// The error code of a reset; nil if the stream ended.
    package var reset: UInt8?

    package subscript(name: String) -> String? { fields.first { $0.0 == name }?.1 }
    package var text: String { String(decoding: body, as: UTF8.self) }
  }

  package static let (data, headers, reset, settings, ping, goAway, windowUpdate, continuation) = (
    UInt8(0), UInt8(1), UInt8(3), UInt8(4), UInt8(6), UInt8(7), UInt8(8), UInt8(9)
  )

  private let peer: RawPeer
  private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
  private var responses: [UInt32: Response] = [:]
  private var ended: Set<UInt32> = []

  /// Connects and sends the preface.
  package init(_ port: Int) throws {
    peer = try RawPeer.connect(port)
    peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    send(Self.settings, 0)
  }

  /// Ends the connection.
  package func end() { peer.end() }

  /// Sends a frame.
  package func send(_ type: UInt8, flags: UInt8 = 0, _ stream: UInt32, _ payload: [UInt8] = []) {
    send(each: [Self.frame(type, flags: flags, stream: stream, payload: payload)])
  }

  /// Sends frames in a write each.
  package func send(each frames: [[UInt8]]) {
    for frame in frames { peer.send(String(String.UnicodeScalarView(frame.map { Unicode.Scalar($0) }))) }
  }

  /// Sends frames in one write, so that the server reads them at once.
  package func send(together frames: [[UInt8]]) { peer.sendNow(Array(frames.joined())) }

  /// The bytes of a frame (RFC 9113 §4.1).
  package static func frame(
    _ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []
  ) -> [UInt8] {
    let count = payload.count
    return [
      UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags,
      UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255),
    ] + payload
  }

  /// HEADERS, and CONTINUATION for what is longer than a frame.
  package static func head(
    _ stream: UInt32, _ block: [UInt8], ends: Bool = false, frameBytes: Int = 16_384
  ) -> [[UInt8]] {
    stride(from: 0, to: block.count, by: frameBytes).map { start in
      let (isFirst, isLast) = (start == 0, start + frameBytes >= block.count)
      return frame(
        isFirst ? headers : continuation, flags: (isFirst && ends ? 1 : 0) | (isLast ? 4 : 0), stream: stream,
        payload: Array(block[start..<min(block.count, start + frameBytes)]))
    }
  }

  /// A block of fields without compression (RFC 7541 §6.2.2).
  package static func block(_ fields: [(String, String)]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in fields {
      block.append(0)
      for text in [name, value] {
        block += length(text.utf8.count)
        block.append(contentsOf: text.utf8)
      }
    }
    return block
  }

  /// The length of a string without Huffman's code (RFC 7541 §5.1, §5.2).
  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 127 else { return [UInt8(count)] }
    var (octets, rest) = ([UInt8(127)], count - 127)
    while rest > 127 {
      octets.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    return octets + [UInt8(rest)]
  }

  /// Sends the head of a whole GET, in as many frames as its length needs.
  ///
  /// - Parameter frameBytes: the bytes of each frame.
  package func longRequest(_ stream: UInt32, _ fields: [(String, String)], frameBytes: Int = 16_384) {
    let pseudo = [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/")]
    send(each: Self.head(stream, Self.block(pseudo + fields), ends: true, frameBytes: frameBytes))
  }

  /// Waits for the server's SETTINGS, and confirms them.
  package func confirmSettings() async throws {
    while true {
      let frame = try await next()
      if frame.type == Self.settings, frame.flags & 1 == 0 { return send(Self.settings, flags: 1, 0) }
    }
  }

  /// Sends the head of a request, by default a whole GET.
  package func request(
    _ stream: UInt32, _ path: String = "/", method: String = "GET", _ fields: [(String, String)] = [],
    ends: Bool = true
  ) {
    send(together: [Self.request(stream, path, method: method, fields, ends: ends)])
  }

  /// The frame with the head of a request.
  package static func request(
    _ stream: UInt32, _ path: String, method: String = "GET", _ fields: [(String, String)] = [],
    ends: Bool = true
  ) -> [UInt8] {
    let pseudo = [(":method", method), (":scheme", "http"), (":authority", "h"), (":path", path)]
    return frame(headers, flags: ends ? 5 : 4, stream: stream, payload: block(pseudo + fields))
  }

  /// Lets more bytes of bodies come, on a stream or (0) on the connection.
  package func widen(_ stream: UInt32, by count: Int) {
    send(Self.windowUpdate, stream, [24, 16, 8, 0].map { UInt8(count >> $0 & 255) })
  }

  /// The next frame.
  package func next() async throws -> Frame {
    let head = Array(try await peer.receive(count: 9).unicodeScalars.map { UInt8($0.value) })
    let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    let payload = count > 0 ? try await peer.receive(count: count).unicodeScalars.map { UInt8($0.value) } : []
    let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
  }

  /// The next frame of a type. Other frames are dropped.
  @discardableResult
  package func next(_ type: UInt8) async throws -> Frame {
    while true {
      let frame = try await next()
      if frame.type == type { return frame }
    }
  }

  /// The frames up to the end of the connection.
  ///
  /// - Throws: if the connection does not end.
  package func rest() async throws -> [Frame] {
    var frames: [Frame] = []
    while let frame = try? await next() { frames.append(frame) }
    // A part of a frame may come before the end. If the connection is open, nothing came in time.
    _ = try await peer.receiveAll()
    return frames
  }

  /// The response on a stream. Those of other streams that come meanwhile are kept.
  package func response(_ stream: UInt32) async throws -> Response {
    while ended.remove(stream) == nil {
      let frame = try await take()
      let ends = frame.type == Self.reset || frame.flags & 1 != 0
      let carriesEnd = [Self.data, Self.headers, Self.reset].contains(frame.type)
      if ends, carriesEnd { ended.insert(frame.stream) }
    }
    return responses.removeValue(forKey: stream) ?? Response()
  }

  /// Waits until a part of a body has come.
  package func receive(_ count: Int, of stream: UInt32) async throws {
    while responses[stream]?.body.count ?? 0 < count { _ = try await take() }
  }

  private func take() async throws -> Frame {
    let frame = try await next()
    var response = responses[frame.stream] ?? Response()
    switch frame.type {
    case Self.headers:
      var block = ByteBuffer(bytes: frame.payload)
      let fields = try decoder.decodeHeaders(from: &block).map { ($0.name, $0.value) }
      let status = fields.first { $0.0 == ":status" }?.1
      if let status, status.hasPrefix("1") {
        response.interim.append(status)
        response.interimFields += fields
      } else if let status {
        (response.status, response.fields) = (status, fields)
      } else {
        response.trailers = fields
      }
    case Self.data: response.body += frame.payload
    case Self.reset: response.reset = frame.payload.last
    default: return frame
    }
    responses[frame.stream] = response
    return frame
  }
}

import NIOCore

/// Passes on whole frames of HTTP/2 (RFC 9113 §4.1), and keeps the begin of one until the rest arrives. The payload of
/// DATA passes as it arrives. A peer's SETTINGS_HEADER_TABLE_SIZE counts as 4,096 at most: NIOHTTP2 would keep, and search
/// for each field, a table of up to 4 GiB. An encoder may use less than the peer allows (RFC 7541 §4.2).
///
/// A peer's SETTINGS_MAX_FRAME_SIZE counts as the largest one: NIOHTTP2 writes each head as one frame, and `HeadWriter` cuts
/// it (RFC 9113 §6.10).
///
/// Confirms the SETTINGS of this side itself, right behind the first SETTINGS of the peer, and drops the peer's own
/// confirmation. Until then NIOHTTP2 would obey its defaults, and end a connection whose first request has a head of more
/// than 16 KiB. These settings only allow the peer more than the defaults do, or limit what NIOHTTP2 limits anyway. A client
/// sends its first requests before the SETTINGS of the server arrive, and so gets SETTINGS from here at once (`begin`).
///
/// Closes the connection of a client that sends the begin of a head, and not the rest in time.
///
/// NIOHTTP2's decoder frees the bytes that it has read only when it has read all: a peer whose writes always end within a
/// frame would make its buffer as long as all that the connection ever received.
final class FrameAligner: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The length of a connection preface (RFC 9113 §3.4).
  static let preface = 24
  private static let head = 9
  /// The longest payload that is kept: SETTINGS_MAX_FRAME_SIZE as it is at first (RFC 9113 §6.5.2).
  private static let longestPayload = 16_384

  private static let largestHeaderTable: UInt32 = 4_096
  /// The values that SETTINGS_MAX_FRAME_SIZE may have (RFC 9113 §6.5.2).
  private static let frameSizes: ClosedRange<UInt32> = 16_384...16_777_215
  /// SETTINGS with the flag ACK (RFC 9113 §6.5).
  static let confirmation: [UInt8] = [0, 0, 0, 4, 1, 0, 0, 0, 0]
  /// SETTINGS with the largest SETTINGS_MAX_FRAME_SIZE.
  private static let largestFrames: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0xFF, 0xFF, 0xFF]

  private enum Settings {
    case fromPeer
    case confirmation
  }

  /// The next frame of SETTINGS that is not passed on as it is; nil after the peer's confirmation.
  private var awaited: Settings? = .fromPeer
  /// The bytes before the first frame; 0 once they have arrived.
  private var prefaceLeft: Int
  /// The bytes of a payload that pass as they arrive.
  private var passing = 0
  /// The begin of a frame, or of the preface.
  private var begun = ByteBuffer()
  private var context: ChannelHandlerContext?
  private let headTimeout: TimeAmount?
  /// Whether the last frame was one of a head, without its end: CONTINUATION follows (RFC 9113 §6.10).
  private var isInHead = false
  /// Runs from the first bytes of a head to its end.
  private var headTimer: Scheduled<Void>?

  /// - Parameters:
  ///   - prefaceLength: the bytes that the peer sends before its first frame.
  ///   - headTimeout: maximum time for a head, from its first bytes; nil is for ever.
  init(prefaceLength: Int = 0, headTimeout: TimeAmount? = nil) {
    prefaceLeft = prefaceLength
    self.headTimeout = headTimeout
  }

  /// The number of bytes that are kept.
  var keptBytes: Int { begun.readableBytes }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    headTimer?.cancel()
  }

  /// Lets a client write heads of any length from its first request on: NIOHTTP2 gets SETTINGS and a confirmation before
  /// those of the server arrive. `HeadWriter` drops NIOHTTP2's confirmation of SETTINGS that no server sent. Call it once,
  /// when NIOHTTP2 has written its own SETTINGS.
  func begin() {
    awaited = .confirmation
    for frame in [Self.largestFrames, Self.confirmation] {
      context?.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: frame)))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    defer { limitHead(context) }
    var arrived = unwrapInboundIn(data)
    let hasBegun = begun.readableBytes > 0
    if hasBegun {
      begun.writeBuffer(&arrived)
      (arrived, begun) = (begun, ByteBuffer())
    }
    var rest = arrived
    let start = rest.readerIndex
    while true {
      let passed = min(passing, rest.readableBytes)
      rest.moveReaderIndex(forwardBy: passed)
      passing -= passed
      guard let length = length(of: rest), length <= rest.readableBytes else { break }
      let settings = awaitedSettings(at: rest)
      if settings != nil { fire(&arrived, upTo: rest, context) }
      passing = payload(of: rest)
      noteHead(rest)
      limitSettings(in: &arrived, at: rest.readerIndex, length: length)
      rest.moveReaderIndex(forwardBy: length)
      prefaceLeft = 0
      guard let settings, let frame = arrived.readSlice(length: length) else { continue }
      fire(frame, as: settings, context)
    }
    let hasPassed = rest.readerIndex > start
    fire(&arrived, upTo: rest, context)
    guard rest.readableBytes > 0 else { return }
    // A copy, so that few bytes do not keep a large buffer. It is not made again with each piece of a frame.
    begun = hasBegun && !hasPassed ? rest : ByteBuffer(bytes: rest.readableBytesView)
  }

  /// Notes whether the frame at the begin of some bytes leaves a head without its end.
  private func noteHead(_ bytes: ByteBuffer) {
    guard prefaceLeft == 0, let type: UInt8 = bytes.getInteger(at: bytes.readerIndex + 3),
      type == 1 || type == 9, let flags: UInt8 = bytes.getInteger(at: bytes.readerIndex + 4)
    else { return }
    isInHead = flags & 4 == 0
    guard !isInHead else { return }
    headTimer?.cancel()
    headTimer = nil
  }

  /// Begins to measure the time of a head whose end has not arrived.
  private func limitHead(_ context: ChannelHandlerContext) {
    guard let headTimeout, headTimer == nil else { return }
    let beginsHead = prefaceLeft == 0 && begun.getInteger(at: begun.readerIndex + 3, as: UInt8.self) == 1
    guard isInHead || beginsHead else { return }
    headTimer = context.eventLoop.assumeIsolated().scheduleTask(in: headTimeout) {
      context.close(promise: nil)
    }
  }

  /// Passes on the peer's first SETTINGS, with a size of frames and with the confirmation behind it. The confirmation of the
  /// peer is left out.
  private func fire(_ frame: ByteBuffer, as settings: Settings, _ context: ChannelHandlerContext) {
    guard settings == .fromPeer else { return }
    var frame = ByteBuffer(bytes: frame.readableBytesView)
    let payload = frame.readableBytes - Self.head + 6
    if payload <= Self.longestPayload {
      frame.setInteger(UInt16(payload), at: 1)
      frame.writeInteger(UInt16(5))
      frame.writeInteger(Self.frameSizes.upperBound)
    }
    context.fireChannelRead(wrapInboundOut(frame))
    context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: Self.confirmation)))
  }

  /// Passes on the bytes before those of `rest`.
  private func fire(_ arrived: inout ByteBuffer, upTo rest: ByteBuffer, _ context: ChannelHandlerContext) {
    guard let whole = arrived.readSlice(length: arrived.readableBytes - rest.readableBytes),
      whole.readableBytes > 0
    else { return }
    context.fireChannelRead(wrapInboundOut(whole))
  }

  /// Whether the frame at the begin of some bytes is the awaited one; the next one is awaited then. NIOHTTP2 gets a
  /// malformed one as it is.
  private func awaitedSettings(at bytes: ByteBuffer) -> Settings? {
    let start = bytes.readerIndex
    guard let awaited, prefaceLeft == 0, let (payload, _) = head(of: bytes), payload <= Self.longestPayload,
      bytes.getInteger(at: start + 3, as: UInt8.self) == 4,
      let flags = bytes.getInteger(at: start + 4, as: UInt8.self),
      bytes.getInteger(at: start + 5, as: UInt32.self).map({ $0 & 0x7FFF_FFFF }) == 0
    else { return nil }
    switch awaited {
    case .fromPeer:
      guard flags & 1 == 0 else { return nil }
      self.awaited = .confirmation
    case .confirmation:
      guard flags & 1 == 1, payload == 0 else { return nil }
      self.awaited = nil
    }
    return awaited
  }

  /// The length of the frame, of its head for DATA, or of the preface, at the begin of some bytes; nil if there are none, or
  /// if more are needed to tell.
  private func length(of bytes: ByteBuffer) -> Int? {
    if prefaceLeft > 0 { return bytes.readableBytes > 0 ? prefaceLeft : nil }
    guard let (payload, isData) = head(of: bytes) else { return nil }
    // NIOHTTP2 refuses a frame that is too long as soon as it has its head.
    if payload > Self.longestPayload { return bytes.readableBytes }
    return isData ? Self.head : Self.head + payload
  }

  /// Lowers SETTINGS_HEADER_TABLE_SIZE and raises SETTINGS_MAX_FRAME_SIZE in a frame of SETTINGS (RFC 9113 §6.5.1).
  private func limitSettings(in bytes: inout ByteBuffer, at start: Int, length: Int) {
    guard prefaceLeft == 0, bytes.getInteger(at: start + 3, as: UInt8.self) == 4 else { return }
    for place in stride(from: start + Self.head, to: start + length - 5, by: 6) {
      guard let name: UInt16 = bytes.getInteger(at: place),
        let value: UInt32 = bytes.getInteger(at: place + 2)
      else { continue }
      if name == 1, value > Self.largestHeaderTable {
        bytes.setInteger(Self.largestHeaderTable, at: place + 2)
      } else if name == 5, Self.frameSizes.contains(value) {
        bytes.setInteger(Self.frameSizes.upperBound, at: place + 2)
      }
    }
  }

  /// The length of the payload that passes as it arrives, behind the head at the begin of some bytes.
  private func payload(of bytes: ByteBuffer) -> Int {
    guard prefaceLeft == 0, let (payload, isData) = head(of: bytes), isData, payload <= Self.longestPayload
    else { return 0 }
    return payload
  }

  private func head(of bytes: ByteBuffer) -> (payload: Int, isData: Bool)? {
    guard bytes.readableBytes >= Self.head,
      let high: UInt8 = bytes.getInteger(at: bytes.readerIndex),
      let low: UInt16 = bytes.getInteger(at: bytes.readerIndex + 1),
      let type: UInt8 = bytes.getInteger(at: bytes.readerIndex + 3)
    else { return nil }
    return (Int(high) << 16 | Int(low), type == 0)
  }
}

import NIOCore

/// Changes the frames of heads on their way to the peer, which NIOHTTP2 cannot write so:
/// - A head of more than 16 KiB is cut into HEADERS and CONTINUATION (RFC 9113 §6.10). `FrameAligner` makes NIOHTTP2 write
///   it as one frame.
/// - The longest head that is accepted (SETTINGS_MAX_HEADER_LIST_SIZE) is named, where NIOHTTP2 would name the longest one
///   that it decodes: a longer head is an error of its stream alone only if all of it is decoded.
///
/// On the connection of a client, drops the first confirmation of SETTINGS: `FrameAligner` made these SETTINGS.
final class HeadWriter: ChannelOutboundHandler {
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private static let head = 9
  /// The bytes of a frame's payload that every peer takes: the least SETTINGS_MAX_FRAME_SIZE (RFC 9113 §6.5.2).
  static let longestPayload = 16_384

  private let limit: UInt32
  private var hasNamedLimit = false
  private var dropsConfirmation: Bool

  /// - Parameters:
  ///   - limits: the limits of heads that are accepted.
  ///   - isClient: whether this side is the client of the connection.
  init(_ limits: MessageLimits, isClient: Bool = false) {
    limit = UInt32(clamping: limits.headBytes)
    dropsConfirmation = isClient
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
      return context.write(data, promise: promise)
    }
    if dropsConfirmation, bytes.readableBytesView.elementsEqual(FrameAligner.confirmation) {
      dropsConfirmation = false
      promise?.succeed()
      return
    }
    if !hasNamedLimit { hasNamedLimit = nameLimit(in: &bytes) }
    if bytes.readableBytes > Self.head + Self.longestPayload, frameType(of: bytes) == 1 { cut(&bytes) }
    context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
  }

  /// The type of the frame at the begin of some bytes, if they are a frame.
  private func frameType(of bytes: ByteBuffer) -> UInt8? {
    guard length(of: bytes) == bytes.readableBytes - Self.head else { return nil }
    return bytes.getInteger(at: bytes.readerIndex + 3)
  }

  private func length(of bytes: ByteBuffer) -> Int? {
    guard let high: UInt8 = bytes.getInteger(at: bytes.readerIndex),
      let low: UInt16 = bytes.getInteger(at: bytes.readerIndex + 1)
    else { return nil }
    return Int(high) << 16 | Int(low)
  }

  /// Cuts HEADERS without padding.
  private func cut(_ bytes: inout ByteBuffer) {
    guard let flags: UInt8 = bytes.getInteger(at: bytes.readerIndex + 4),
      let stream: UInt32 = bytes.getInteger(at: bytes.readerIndex + 5)
    else { return }
    bytes.moveReaderIndex(forwardBy: Self.head)
    let endHeaders: UInt8 = 4
    var frames = ByteBuffer()
    frames.reserveCapacity(bytes.readableBytes + 8 * Self.head)
    var isFirst = true
    while var part = bytes.readSlice(length: min(Self.longestPayload, bytes.readableBytes)),
      part.readableBytes > 0
    {
      frames.writeInteger(UInt8(0))
      frames.writeInteger(UInt16(part.readableBytes))
      frames.writeInteger(UInt8(isFirst ? 1 : 9))
      frames.writeInteger((isFirst ? flags & ~endHeaders : 0) | (bytes.readableBytes == 0 ? endHeaders : 0))
      frames.writeInteger(stream)
      frames.writeBuffer(&part)
      isFirst = false
    }
    bytes = frames
  }

  /// - Returns: whether the bytes are SETTINGS. A client writes its preface before.
  private func nameLimit(in bytes: inout ByteBuffer) -> Bool {
    guard frameType(of: bytes) == 4 else { return false }
    let start = bytes.readerIndex + Self.head
    for place in stride(from: start, to: start + bytes.readableBytes - Self.head - 5, by: 6)
    where bytes.getInteger(at: place, as: UInt16.self) == 6 {
      bytes.setInteger(limit, at: place + 2)
    }
    return true
  }
}

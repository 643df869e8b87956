public import HTTPCacheSemantics
public import HTTPTypes

/// The origin's answer.
public struct UpstreamResponse: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The body; its trailers are available after its end. It throws `UpstreamError` when it is cut short, so
  /// that an incomplete body never passes for complete.
  public var body: MessageBody
  /// Whether the upstream removed the content coding that the fields still name.
  public var isContentDecoded: Bool
  /// Why it must not be stored, whatever its fields say; nil if the fields decide. A stored response that it
  /// confirms gets none of its fields, and is validated before its next use.
  public var storageRefusal: StorageRefusal?
  /// The fetch for all nodes of a fleet whose response this is; nil without one.
  var fetch: SharedFetch?
  /// How old the response was in the tier of a fleet; nil for a response of the origin.
  var tierAge: SharedAge?

  /// Makes a response.
  public init(
    head: HTTPResponse, body: MessageBody, isContentDecoded: Bool = false,
    storageRefusal: StorageRefusal? = nil
  ) {
    self.head = head
    self.body = body
    self.isContentDecoded = isContentDecoded
    self.storageRefusal = storageRefusal
  }

  /// Whether a response with these fields is a stream of events (`text/event-stream`), which may be silent for hours.
  public static func isEventStream(_ fields: HTTPFields) -> Bool {
    guard let index = fields.firstIndex(of: .contentType) else { return false }
    return fields[index].withUnsafeBytesOfValue { octets in
      // A malformed response may have a second type.
      FileExtension.essence(octets.prefix { $0 != UInt8(ascii: ",") }) == "text/event-stream"
    }
  }
}

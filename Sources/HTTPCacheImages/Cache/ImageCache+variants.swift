import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// Processed images in the HTTP cache.
///
/// A processed image is stored as a response to the URL of its source, in a partition named after the processors.
/// It is removed with its URL, counts against the capacity and is encrypted like all entries. It is used only if
/// its source still has the bytes that it was made of.
extension ImageCache {
  /// The processed image that is stored; nil if it has to be made.
  func storedVariant(
    of fetched: FetchedImage, _ request: ImageRequest, _ handle: WorkHandle
  ) async -> DecodedImage? {
    guard configuration.variantEncoder != nil, let partition = Self.partition(of: request),
      let stored = cache.stored(for: request.request, partition: partition),
      stored.record.userInfo == Self.bytes(of: fetched.digest),
      let body = try? await stored.response.body.collect(upTo: configuration.bodyLimit)
    else { return nil }
    let plain = ImageRequest(request: request.request, partition: request.partition)
    return try? await decode(body, plain, handle)
  }

  /// Stores a processed image. A failure costs only the work of making the image again.
  func storeVariant(_ image: DecodedImage, of fetched: FetchedImage, _ request: ImageRequest) async {
    guard let encoder = configuration.variantEncoder, fetched.isKept, let record = fetched.record,
      let partition = Self.partition(of: request),
      let bytes = try? await DecodeThreads.run({ try encoder.encode(image) })
    else { return }
    let head = HTTPResponse(
      status: .ok,
      headerFields: [
        .contentType: encoder.contentType, .contentLength: "\(bytes.count)",
        .cacheControl: "max-age=31536000",
      ])
    let turn = HookTurn.concurrent(cache.configuration.clock, executor: cache.configuration.executor)
    await cache.adopt(
      AdoptedResponse(
        head, body: bytes, isDecoded: false, userInfo: Self.bytes(of: fetched.digest),
        isMemoryOnly: record.isMemoryOnly),
      to: request.request, partition: partition, asking: turn)
  }

  /// The partition of a processed image; nil for an image that is not processed, or that belongs to an account:
  /// wiping the account's partition would not remove it.
  private static func partition(of request: ImageRequest) -> String? {
    guard !request.processors.isEmpty, request.partition.isEmpty else { return nil }
    return "image " + request.processors.map(\.key).joined(separator: " ")
  }

  private static func bytes(of digest: UInt64) -> [UInt8] {
    withUnsafeBytes(of: digest.littleEndian) { Array($0) }
  }
}

import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import Synchronization

extension ImageCache {
  func options(for request: ImageRequest) -> RequestOptions {
    RequestOptions(
      partition: request.partition, bodyForms: .any, timeout: configuration.timeout,
      priority: request.priority.taskPriority, willStore: ContentSniffer.hook)
  }

  /// Fetches the bytes of an image. A request that the cache can answer waits for no download.
  func fetch(_ request: ImageRequest, _ handle: WorkHandle) async throws -> FetchedImage {
    let answer = { () async throws -> FetchedImage in
      let mark = StoreMark(self.cache)
      let response = try await self.cache.respond(
        to: request.request, policy: request.policy, options: self.options(for: request), via: self.upstream)
      return try await self.read(response, to: request, since: mark)
    }
    return needsOrigin(request) ? try await downloadPermits.with(handle, answer) : try await answer()
  }

  func needsOrigin(_ request: ImageRequest) -> Bool {
    switch request.policy {
    case .cacheOnly: return false
    case .reload, .reloadEverywhere, .revalidate, .bypass, .networkElseCache: return true
    case .standard, .cacheElseNetwork:
      guard let stored = cache.stored(for: request.request, partition: request.partition),
        case .hit(_, _, let allowance) = stored.response.outcome
      else { return true }
      return request.policy == .standard && allowance != nil
    }
  }

  /// Reads the body of a response that may be an image.
  ///
  /// - Parameters:
  ///   - mark: the state of the store before the request.
  ///   - onPart: gets all bytes so far, after each part of a response from the origin.
  func read(
    _ response: CacheResponse, to request: ImageRequest, since mark: StoreMark,
    onPart: (([UInt8]) async -> Void)? = nil
  ) async throws -> FetchedImage {
    if case .unsatisfiable = response.outcome {
      response.body.source.cancel()
      throw ImageError.notStored
    }
    guard response.head.status.code == 200 || response.head.status.code == 203 else {
      response.body.source.cancel()
      throw ImageError.status(response.head.status.code)
    }
    let bytes = try await collect(response, onPart)
    let digest = bytes.withUnsafeBytes { XXH64.hash($0) }
    let facts = facts(of: response, request, mark)
    return FetchedImage(
      bytes: bytes, digest: digest, outcome: response.outcome, record: facts.record,
      freshUntil: facts.freshUntil, mark: facts.mark, isKept: facts.isKept,
      contentType: ContentSniffer.contentType(of: response.head))
  }

  private func collect(
    _ response: CacheResponse, _ onPart: (([UInt8]) async -> Void)?
  ) async throws -> BodyBytes {
    let limit = configuration.bodyLimit
    if let length = response.body.length, length > limit {
      response.body.source.cancel()
      throw ImageError.tooManyBytes(limit: limit)
    }
    let isArriving =
      switch response.outcome {
      case .forwarded, .shared: true
      case .hit, .validated, .unsatisfiable: false
      }
    guard isArriving else {
      do { return try await response.body.collect(upTo: limit) } catch is MessageBody.TooLong {
        throw ImageError.tooManyBytes(limit: limit)
      }
    }
    var all: [UInt8] = []
    return try await withTaskCancellationHandler {
      while let part = try await response.body.source.next() {
        guard part.count <= limit - all.count else {
          response.body.source.cancel()
          throw ImageError.tooManyBytes(limit: limit)
        }
        part.withUnsafeBytes { all.append(contentsOf: $0) }
        await onPart?(all)
      }
      // A cancelled source may end as if it were complete.
      try Task.checkCancellation()
      return BodyBytes(all)
    } onCancel: {
      response.body.source.cancel()
    }
  }

  private struct Facts {
    var record: CacheRecord?
    var freshUntil: Timestamp?
    var mark: StoreMark
    var isKept = true
  }

  private func facts(of response: CacheResponse, _ request: ImageRequest, _ mark: StoreMark) -> Facts {
    // The freshness of a redirect is not that of its target: look it up at each use.
    let isDirect = response.redirects.isEmpty
    let now = cache.configuration.clock.now
    switch response.outcome {
    case .hit(let age, let lifetime, nil), .validated(_, let age, let lifetime):
      return Facts(
        record: response.record, freshUntil: isDirect ? now.adding(lifetime - age) : nil, mark: mark)
    case .hit, .unsatisfiable: return Facts(record: response.record, mark: mark)
    case .forwarded(_, _, .doNotStore, _): return Facts(mark: mark, isKept: false)
    case .forwarded(_, _, .store, _), .shared:
      let mark = StoreMark(cache)
      guard isDirect, let stored = cache.stored(for: request.request, partition: request.partition),
        case .hit(let age, let lifetime, nil) = stored.response.outcome,
        // Another response may have been stored meanwhile.
        [.eTag, .lastModified, .date, .contentLength].allSatisfy({ (name: HTTPField.Name) in
          stored.response.head.headerFields[name] == response.head.headerFields[name]
        })
      else { return Facts(mark: mark) }
      return Facts(record: stored.record, freshUntil: now.adding(lifetime - age), mark: mark)
    }
  }
}

extension ImageCache {
  /// Fetches the bytes of an image and makes it, unless the image in memory was made of equal bytes.
  func make(_ request: ImageRequest, _ handle: WorkHandle) async throws -> DecodedImage {
    let fetched = try await fetches.value(
      for: JobKey(name: request.sourceID, policy: request.policy), priority: request.priority, parent: handle
    ) { try await self.fetch(request, $0) }
    return try await image(of: fetched, request, handle)
  }

  func image(
    of fetched: FetchedImage, _ request: ImageRequest, _ handle: WorkHandle
  ) async throws -> DecodedImage {
    if let entry = memory.withLock({ $0.entry(request.imageID) }), entry.digest == fetched.digest {
      keep(entry.image, of: fetched, for: request)
      return entry.image
    }
    if let image = await storedVariant(of: fetched, request, handle) {
      keep(image, of: fetched, for: request)
      return image
    }
    do {
      let image = try await decode(fetched.bytes, for: request, handle: handle)
      keep(image, of: fetched, for: request)
      await storeVariant(image, of: fetched, request)
      return image
    } catch let bad as BadBytes {
      // The next request asks the origin again, instead of failing until the response is stale.
      if bad.isNoImage { await cache.removeStored(for: request.request, partition: request.partition) }
      if case .notAnImage = bad.error { throw ImageError.notAnImage(contentType: fetched.contentType) }
      throw bad.error
    }
  }

  private func keep(_ image: DecodedImage, of fetched: FetchedImage, for request: ImageRequest) {
    memory.withLock { memory in
      if fetched.isKept, request.policy != .bypass {
        memory.insert(fetched.entry(image), request.imageID)
      } else {
        memory.remove(request.imageID)
      }
    }
  }

  /// Decodes and processes, on a thread of its own.
  ///
  /// - Throws: `BadBytes` for an error of the decoder, `ImageError` for one of a processor.
  func decode(
    _ bytes: BodyBytes, for request: ImageRequest, handle: WorkHandle
  ) async throws -> DecodedImage {
    let (formats, pixelLimit) = (configuration.formats, configuration.pixelLimit)
    return try await decodePermits.with(handle) {
      try Task.checkCancellation()
      return try await SeparateThreads.run {
        var image: DecodedImage
        do throws(ImageError) {
          let (decoder, size) = try formats.decoder(for: bytes, pixelLimit: pixelLimit)
          var options = ImageDecodingOptions(pixelLimit: pixelLimit)
          options.neededSize = request.processors.first?.neededSize(of: size)
          image = try decoder.decode(bytes, options: options)
        } catch {
          if error == .cancelled { throw CancellationError() }
          throw BadBytes(error: error, bytes: bytes)
        }
        for processor in request.processors {
          try Task.checkCancellation()
          image = try Self.process(image, with: processor, pixelLimit: pixelLimit)
        }
        return image
      }
    }
  }

  private static func process(
    _ image: DecodedImage, with processor: any ImageProcessor, pixelLimit: Int
  ) throws(ImageError) -> DecodedImage {
    do {
      let result = try processor.process(image)
      try result.size.check(pixelLimit: pixelLimit)
      return result
    } catch let error as ImageError {
      throw error
    } catch {
      throw .processorFailed(key: processor.key, message: "\(error)")
    }
  }
}

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
    return try? await decode(body, for: plain, handle: handle)
  }

  /// Stores a processed image. A failure costs only the work of making the image again.
  func storeVariant(_ image: DecodedImage, of fetched: FetchedImage, _ request: ImageRequest) async {
    guard let encoder = configuration.variantEncoder, fetched.isKept, let record = fetched.record,
      let partition = Self.partition(of: request),
      let bytes = try? await SeparateThreads.run({ try encoder.encode(image) })
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

/// An error of a decoder, in contrast to one of a processor.
struct BadBytes: Error {
  let error: ImageError
  let bytes: BodyBytes

  /// Whether the bytes are no image that another program could show.
  var isNoImage: Bool {
    switch error {
    case .truncated, .damaged, .emptyImage: true
    case .notAnImage: !ContentSniffer.isImage(bytes)
    case .invalidURL, .status, .notStored, .unsupported, .tooManyPixels, .tooManyBytes, .processorFailed,
      .encodingFailed, .cancelled:
      false
    }
  }
}

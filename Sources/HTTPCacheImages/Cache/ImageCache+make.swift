import HTTPCacheSemantics
import HTTPCaching
import Synchronization

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
      keep(fetched.entry(entry.image), fetched, request)
      return entry.image
    }
    if let image = await storedVariant(of: fetched, request, handle) {
      keep(fetched.entry(image), fetched, request)
      return image
    }
    do {
      let image = try await decode(fetched.bytes, request, handle)
      keep(fetched.entry(image), fetched, request)
      await storeVariant(image, of: fetched, request)
      return image
    } catch let bad as BadBytes {
      // The next request asks the origin again, instead of failing until the response is stale.
      if bad.isNoImage { await cache.removeStored(for: request.request, partition: request.partition) }
      if case .notAnImage = bad.error { throw ImageError.notAnImage(contentType: fetched.contentType) }
      throw bad.error
    }
  }

  private func keep(_ entry: MemoryImage, _ fetched: FetchedImage, _ request: ImageRequest) {
    memory.withLock { memory in
      if fetched.isKept, request.policy != .bypass {
        memory.insert(entry, request.imageID)
      } else {
        memory.remove(request.imageID)
      }
    }
  }

  /// Decodes and processes, on a thread of its own.
  ///
  /// - Throws: `BadBytes` for an error of the decoder, `ImageError` for one of a processor.
  func decode(
    _ bytes: BodyBytes, _ request: ImageRequest, _ handle: WorkHandle
  ) async throws -> DecodedImage {
    let (formats, pixelLimit) = (configuration.formats, configuration.pixelLimit)
    return try await decodePermits.with(handle) {
      try Task.checkCancellation()
      return try await DecodeThreads.run {
        var image: DecodedImage
        do throws(ImageError) {
          let decoder = try formats.decoder(for: bytes)
          var options = ImageDecodingOptions(pixelLimit: pixelLimit)
          if let first = request.processors.first {
            options.neededSize = first.neededSize(of: try decoder.size(of: bytes))
          }
          image = try decoder.decode(bytes, options: options)
        } catch { throw BadBytes(error: error, bytes: bytes) }
        for processor in request.processors { image = try Self.process(image, processor, pixelLimit) }
        return image
      }
    }
  }

  private static func process(
    _ image: DecodedImage, _ processor: any ImageProcessor, _ pixelLimit: Int
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

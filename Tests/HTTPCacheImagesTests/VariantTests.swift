#if ImageCodecs
  import HTTPCacheTesting
  import HTTPCaching
  import Testing

  @testable import HTTPCacheImages

  @Suite("Processed images on disk", .timeLimit(.minutes(10)))
  struct VariantTests {
    private func gallery(stores: Bool = true) throws -> Gallery {
      try Gallery(
        onDisk: true,
        configure: {
          $0.formats.decoders.append(PNGDecoder())
          if stores { $0.variantEncoder = PNGEncoder() }
        })
    }

    @Test(
      "a processed image is found by the next process, without decoding its source", arguments: [false, true])
    func found(stores: Bool) async throws {
      let gallery = try gallery(stores: stores)
      let request = try gallery.request("/a", [.thumbnail(width: 4, height: 4)])
      _ = try await gallery.images.image(for: request)
      let next = ImageCache(
        cache: gallery.cache, upstream: gallery.upstream, configuration: gallery.images.configuration)
      let image = try await next.image(for: request)
      #expect(image.gray == 1 && image.width == 4)
      #expect(gallery.decoder.decoded.count == (stores ? 1 : 2))
      #expect(gallery.upstream.requestCount == 1)
    }

    @Test("it is not used when the source has changed")
    func changed() async throws {
      let gallery = try gallery()
      let request = try gallery.request("/a", [.thumbnail(width: 4, height: 4)])
      _ = try await gallery.images.image(for: request)
      gallery.versions["/a"] = 2
      gallery.clock.advance(by: .seconds(61))
      gallery.images.trimMemory(to: 0)
      #expect(try await gallery.images.image(for: request).gray == 2)
      gallery.images.trimMemory(to: 0)
      #expect(try await gallery.images.image(for: request).gray == 2)
      #expect(gallery.decoder.decoded == [1, 2])
    }

    @Test("it is removed with its URL")
    func removed() async throws {
      let gallery = try gallery()
      let request = try gallery.request("/a", [.thumbnail(width: 4, height: 4)])
      _ = try await gallery.images.image(for: request)
      #expect(try await gallery.cache.remove(request.request) == 2)
    }

    @Test("the images of an account are not stored")
    func account() async throws {
      let gallery = try gallery()
      let request = try ImageRequest(
        "https://example.com/a", processors: [.thumbnail(width: 4, height: 4)], partition: "anna")
      _ = try await gallery.images.image(for: request)
      #expect(gallery.cache.usage.diskEntries == 1)
    }
  }
#endif

import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Image cache", .timeLimit(.minutes(10)))
struct ImageCacheTests {
  @Test("downloaded and decoded once; then it is in memory, at once", arguments: [false, true])
  func memory(onDisk: Bool) async throws {
    let gallery = try Gallery(onDisk: onDisk)
    let request = try gallery.request()
    #expect(gallery.images.imageInMemory(for: request) == nil)
    let image = try await gallery.images.image(for: request)
    #expect(image.size == ImageSize(width: 10, height: 10) && image.gray == 1)
    #expect(gallery.images.imageInMemory(for: request)?.gray == 1)
    _ = try await gallery.images.image(for: request)
    #expect(gallery.upstream.requestCount == 1 && gallery.decoder.decoded == [1])
    #expect(gallery.images.memoryUsage == 400)
  }

  @Test("a stale image that the origin confirms is not decoded again")
  func confirmed() async throws {
    let gallery = try Gallery()
    let request = try gallery.request()
    _ = try await gallery.images.image(for: request)
    gallery.clock.advance(by: .seconds(61))
    #expect(gallery.images.imageInMemory(for: request) == nil)
    #expect(try await gallery.images.image(for: request).gray == 1)
    #expect(gallery.upstream.requestCount == 2 && gallery.decoder.decoded == [1])
    #expect(gallery.images.imageInMemory(for: request)?.gray == 1)
  }

  @Test("a picture that changed at its URL replaces the old one", arguments: [false, true])
  func changed(onDisk: Bool) async throws {
    let gallery = try Gallery(onDisk: onDisk)
    let request = try gallery.request()
    _ = try await gallery.images.image(for: request)
    gallery.versions["/a"] = 2
    #expect(try await gallery.images.image(for: request).gray == 1)
    gallery.clock.advance(by: .seconds(61))
    #expect(try await gallery.images.image(for: request).gray == 2)
    #expect(gallery.images.imageInMemory(for: request)?.gray == 2)
    #expect(gallery.decoder.decoded == [1, 2])
  }

  @Test(
    "a picture that another request replaced in the store is not answered from memory",
    arguments: [false, true])
  func replacedInStore(onDisk: Bool) async throws {
    let gallery = try Gallery(onDisk: onDisk)
    let request = try gallery.request()
    _ = try await gallery.images.image(for: request)
    gallery.versions["/a"] = 2
    let other = try await gallery.cache.respond(to: request.request, policy: .reload, via: gallery.upstream)
    _ = try await other.body.collect()
    #expect(gallery.images.imageInMemory(for: request) == nil)
    #expect(try await gallery.images.image(for: request).gray == 2)
    #expect(gallery.upstream.requestCount == 2)
  }

  @Test("a picture that was removed or invalidated is not answered from memory", arguments: [false, true])
  func removed(removes: Bool) async throws {
    let gallery = try Gallery()
    let request = try gallery.request()
    _ = try await gallery.images.image(for: request)
    if removes { try await gallery.cache.removeAll() } else { try await gallery.cache.invalidate(.all) }
    #expect(gallery.images.imageInMemory(for: request) == nil)
    #expect(try await gallery.images.image(for: request).gray == 1)
    #expect(gallery.upstream.requestCount == 2 && gallery.decoder.decoded == [1])
  }

  @Test("another image that is stored does not send a picture out of memory")
  func othersStored() async throws {
    let gallery = try Gallery()
    let request = try gallery.request()
    _ = try await gallery.images.image(for: request)
    _ = try await gallery.images.image(for: gallery.request("/b"))
    #expect(gallery.images.imageInMemory(for: request)?.gray == 1)
    #expect(gallery.images.imageInMemory(for: request)?.gray == 1)
  }

  @Test(
    "the cache alone answers, however old the image is, and starts no download", arguments: [false, true])
  func cachedOnly(onDisk: Bool) async throws {
    let gallery = try Gallery(onDisk: onDisk)
    let request = try gallery.request()
    #expect(try await gallery.images.cachedImage(for: request) == nil)
    #expect(gallery.upstream.requestCount == 0)
    _ = try await gallery.images.image(for: request)
    gallery.clock.advance(by: .seconds(86_400))
    gallery.images.trimMemory(to: 0)
    #expect(try await gallery.images.cachedImage(for: request)?.gray == 1)
    #expect(gallery.upstream.requestCount == 1)
  }

  @Test("reload and bypass ask the origin; bypass keeps nothing")
  func policies() async throws {
    let gallery = try Gallery()
    _ = try await gallery.images.image(for: gallery.request(policy: .bypass))
    #expect(gallery.images.memoryUsage == 0)
    _ = try await gallery.images.image(for: gallery.request())
    _ = try await gallery.images.image(for: gallery.request(policy: .reload))
    #expect(gallery.upstream.requestCount == 3)
  }

  @Test("what must not be stored is not kept in memory either")
  func noStore() async throws {
    let gallery = try Gallery(cacheControl: "no-store")
    _ = try await gallery.images.image(for: gallery.request())
    #expect(gallery.images.memoryUsage == 0)
    _ = try await gallery.images.image(for: gallery.request())
    #expect(gallery.upstream.requestCount == 2)
  }

  @Test("accounts do not share images")
  func partitions() async throws {
    let gallery = try Gallery()
    let url = "https://example.com/a"
    _ = try await gallery.images.image(for: ImageRequest(url, partition: "anna"))
    #expect(gallery.images.imageInMemory(for: try ImageRequest(url, partition: "ben")) == nil)
    #expect(try await gallery.images.cachedImage(for: ImageRequest(url)) == nil)
  }

  @Test("a picture from the cache is one hit, and a downloaded one is none", arguments: [false, true])
  func hits(onDisk: Bool) async throws {
    let gallery = try Gallery(onDisk: onDisk)
    for hits in 0..<3 as Range<Int64> {
      #expect(try await gallery.images.image(for: gallery.request()).gray == 1)
      gallery.images.trimMemory(to: 0)
      #expect(try await gallery.cache.counts().hits == hits)
    }
    #expect(gallery.upstream.requestCount == 1)
  }

  @Test("without a connection the stored picture is shown")
  func offline() async throws {
    let isGone = Flag()
    let gallery = try Gallery(answer: { _ in isGone.isSet ? .failure(.unreachable) : nil })
    _ = try await gallery.images.image(for: gallery.request())
    isGone.set()
    gallery.clock.advance(by: .seconds(600))
    #expect(try await gallery.images.image(for: gallery.request()).gray == 1)
    await #expect(throws: UpstreamError.self) { try await gallery.images.image(for: gallery.request("/b")) }
  }

  @Test("a request waits at most 30 seconds for a head unless told otherwise")
  func timeout() async throws {
    let gallery = try Gallery()
    _ = try await gallery.images.image(for: gallery.request())
    #expect(gallery.upstream.requests.first?.request.timeout == .seconds(30))
  }
}

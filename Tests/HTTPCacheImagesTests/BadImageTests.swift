import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Answers that are no image", .timeLimit(.minutes(10)))
struct BadImageTests {
  private struct Failing: ImageProcessor {
    struct Broken: Error {}
    var key: String { "failing" }
    func process(_ image: DecodedImage) throws -> DecodedImage { throw Broken() }
  }

  private static let page = BodyBytes(Array("<!doctype html><title>Sign in to the network</title>".utf8))

  @Test(
    "a page with 200 is an error, under its own type and under a wrong one, and is not stored",
    arguments: [
      "text/html; charset=utf-8", "image/png", "application/octet-stream",
    ])
  func html(type: String) async throws {
    let isSignedIn = Flag()
    let gallery = try Gallery(answer: { _ in
      isSignedIn.isSet ? nil : Gallery.response(Self.page, ["Cache-Control": "max-age=600"], type: type)
    })
    let media = String(type.split(separator: ";")[0])
    await #expect(throws: ImageError.notAnImage(contentType: media)) {
      try await gallery.images.image(for: gallery.request())
    }
    #expect(gallery.images.memoryUsage == 0)
    #expect(try await gallery.images.cachedImage(for: gallery.request()) == nil)
    isSignedIn.set()
    #expect(try await gallery.images.image(for: gallery.request()).gray == 1)
  }

  @Test(
    "bytes that are no image do not stay stored, so that the next request asks again; another format does",
    arguments: [
      ("IMG\u{A}", false), ("IMG\0\u{5}\u{1}", false), ("\0\u{1}\u{2}", false), ("", false),
      ("GIF89a\u{1}\0\u{1}\0", true), ("\0\0\0\u{18}ftypavif", true),
      ("\0\0\0\u{C}jP  \r\n", true), ("II+\0", true), ("MM\0+", true), ("\0\0\u{2}\0", true), ("8BPS", true),
      ("<?xml version='1.0'?><svg/>", true), ("<!DOCTYPE html><svg/>", false),
    ])
  func undecodable(text: String, stays: Bool) async throws {
    let bytes = Array(text.utf8)
    let isRepaired = Flag()
    let gallery = try Gallery(answer: { _ in
      isRepaired.isSet
        ? nil : Gallery.response(BodyBytes(bytes), ["Cache-Control": "max-age=600"], type: "image/png")
    })
    await #expect(throws: ImageError.self) { try await gallery.images.image(for: gallery.request()) }
    #expect(gallery.images.memoryUsage == 0)
    let isStored = gallery.cache.stored(for: try gallery.request().request) != nil
    #expect(isStored == stays)
    isRepaired.set()
    if stays {
      await #expect(throws: ImageError.self) { try await gallery.images.image(for: gallery.request()) }
    } else {
      #expect(try await gallery.images.image(for: gallery.request()).gray == 1)
    }
  }

  @Test("another status is an error", arguments: [404, 410, 500, 204])
  func status(code: Int) async throws {
    let gallery = try Gallery(answer: { _ in ScriptedResponse(status: code) })
    await #expect(throws: ImageError.status(code)) { try await gallery.images.image(for: gallery.request()) }
  }

  @Test("a body above the limit is refused, with and without a length", arguments: [false, true])
  func tooLong(hasLength: Bool) async throws {
    let gallery = try Gallery(answer: { _ in
      var response = Gallery.response(CountingDecoder.bytes(1, padding: 995), ["Cache-Control": "max-age=60"])
      if !hasLength {
        response.announcedLength = nil
        response.head.headerFields[.contentLength] = nil
      }
      return response
    }) { $0.bodyLimit = 1_000 }
    await #expect(throws: ImageError.tooManyBytes(limit: 1_000)) {
      try await gallery.images.image(for: gallery.request())
    }
  }

  @Test("an image above the limit of pixels, and one without pixels")
  func pixels() async throws {
    let gallery = try Gallery(answer: { request in
      Gallery.response(
        CountingDecoder.bytes(1, side: request.head.path == "/none" ? 0 : 200),
        ["Cache-Control": "max-age=60"])
    }) { $0.pixelLimit = 39_999 }
    await #expect(throws: ImageError.tooManyPixels(width: 200, height: 200, limit: 39_999)) {
      try await gallery.images.image(for: gallery.request())
    }
    await #expect(throws: ImageError.emptyImage) {
      try await gallery.images.image(for: gallery.request("/none"))
    }
    #expect(gallery.decoder.decoded.isEmpty)
  }

  @Test("the limit of pixels holds for each decoder, which is not called above it")
  func pixelsOfFormats() throws {
    let decoder = CountingDecoder()
    let formats = ImageFormats([decoder])
    let bytes = CountingDecoder.bytes(1, side: 200)
    let error = ImageError.tooManyPixels(width: 200, height: 200, limit: 39_999)
    let options = ImageDecodingOptions(pixelLimit: 39_999, neededSize: ImageSize(width: 1, height: 1))
    #expect(throws: error) { try formats.decode(bytes, options: options) }
    #expect(throws: error) { try formats.frames(of: bytes, options: options) }
    #expect(decoder.decoded.isEmpty)
    #expect(throws: Never.self) {
      try formats.decode(bytes, options: ImageDecodingOptions(pixelLimit: 40_000))
    }
  }

  @Test("a body that breaks off is an error, and no part of it is shown later")
  func cutShort() async throws {
    let gallery = try Gallery(answer: { _ in
      var response = Gallery.response(CountingDecoder.bytes(1), ["Cache-Control": "max-age=60"])
      response.announcedLength = 100
      return response.cutShort()
    })
    await #expect(throws: UpstreamError.self) { try await gallery.images.image(for: gallery.request()) }
    #expect(try await gallery.images.cachedImage(for: gallery.request()) == nil)
  }

  @Test("a processor that throws: its key and error; the image itself is there")
  func processor() async throws {
    let gallery = try Gallery()
    await #expect(throws: ImageError.processorFailed(key: "failing", message: "Broken()")) {
      try await gallery.images.image(for: gallery.request("/a", [Failing()]))
    }
    #expect(try await gallery.images.image(for: gallery.request()).gray == 1)
    #expect(gallery.upstream.requestCount == 1)
  }

  @Test("text that is no URL is an error")
  func url() {
    for text in ["", "photo.jpg", "file:///photo.jpg", "https://"] {
      #expect(throws: ImageError.invalidURL(text)) { try ImageRequest(text) }
    }
  }
}

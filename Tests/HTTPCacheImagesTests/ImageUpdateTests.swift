import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheImages

@Suite("Old image first", .timeLimit(.minutes(10)))
struct ImageUpdateTests {
  @Test("a stale picture comes first, then the new one; a fresh one comes alone")
  func oldThenNew() async throws {
    let gallery = try Gallery()
    let request = try gallery.request()
    #expect(try await grays(gallery, request) == [1])
    gallery.versions["/a"] = 2
    #expect(try await grays(gallery, request) == [1])
    gallery.clock.advance(by: .seconds(61))
    #expect(try await grays(gallery, request) == [1, 2])
    gallery.clock.advance(by: .seconds(61))
    #expect(try await grays(gallery, request) == [2])
    #expect(gallery.decoder.decoded == [1, 2])
    #expect(gallery.images.imageInMemory(for: request)?.gray == 2)
  }

  @Test("a failure after the old picture ends the sequence; without one it is thrown")
  func failure() async throws {
    let isGone = Flag()
    let gallery = try Gallery(answer: { _ in isGone.isSet ? ScriptedResponse(status: 500) : nil })
    let request = try gallery.request()
    _ = try await grays(gallery, request)
    isGone.set()
    gallery.clock.advance(by: .seconds(61))
    #expect(try await grays(gallery, request) == [1])
    await #expect(throws: ImageError.status(500)) { try await grays(gallery, gallery.request("/b")) }
  }

  private func grays(_ gallery: Gallery, _ request: ImageRequest) async throws -> [UInt8?] {
    var all: [UInt8?] = []
    for try await update in gallery.images.updates(for: request) {
      #expect(!update.isPreview)
      all.append(update.image.gray)
    }
    return all
  }

  #if ImageCodecs
    @Test("a progressive JPEG gives previews while it arrives, processed like the image")
    func previews() async throws {
      let file = ProgressiveSample.bytes
      let gate = Gate()
      let gallery = try Gallery(answer: { _ in
        var response = Gallery.response(BodyBytes(file), ["Cache-Control": "max-age=60"], type: "image/jpeg")
        let half = file.count * 3 / 4
        response.steps = [.bytes(BodyBytes(file[..<half])), .wait(gate), .bytes(BodyBytes(file[half...]))]
        return response
      }) { $0.formats = .standard }
      let request = try gallery.request("/a", [.thumbnail(width: 32, height: 32)])
      var updates: [ImageUpdate] = []
      for try await update in gallery.images.updates(for: request) {
        updates.append(update)
        gate.open()
      }
      #expect(updates.map(\.isPreview) == [true, false])
      let preview = try #require(updates.first?.image)
      let image = try #require(updates.last?.image)
      #expect(preview.size == image.size && image.width == 32)
      let difference = try #require(Picture.difference(preview, image))
      #expect(difference < 40)
    }
  #endif
}

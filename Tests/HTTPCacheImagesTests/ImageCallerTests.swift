import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@testable import HTTPCacheImages

@Suite("Callers of the image cache", .timeLimit(.minutes(10)))
struct ImageCallerTests {
  @Test("callers of one image share its download and its decoding; processors of one URL share the download")
  func coalesced() async throws {
    let gate = Gate()
    let gallery = try Gallery(answer: { _ in
      Gallery.response(CountingDecoder.bytes(7), ["Cache-Control": "max-age=60"]).stallingBeforeHead(at: gate)
    })
    let small = try gallery.request("/a", [.thumbnail(width: 4, height: 4)])
    let whole = try gallery.request()
    let callers = (0..<20).map { index in
      Task { try await gallery.images.image(for: index % 2 == 0 ? small : whole) }
    }
    await gate.waitForArrivals(1)
    try await until { gallery.images.jobs.count == 2 }
    gate.open()
    for (index, caller) in callers.enumerated() {
      #expect(try await caller.value.width == (index % 2 == 0 ? 4 : 10))
    }
    #expect(gallery.upstream.requestCount == 1)
    #expect(gallery.decoder.decoded.count == 2)
  }

  @Test("a caller that leaves disturbs no other")
  func oneLeaves() async throws {
    let gate = Gate()
    let gallery = try Gallery(answer: { _ in
      Gallery.response(CountingDecoder.bytes(7), ["Cache-Control": "max-age=60"]).stallingBeforeHead(at: gate)
    })
    let request = try gallery.request()
    let leaving = Task { try await gallery.images.image(for: request) }
    let staying = Task { try await gallery.images.image(for: request) }
    await gate.waitForArrivals(1)
    try await until { gallery.images.jobs.callerCount == 2 }
    leaving.cancel()
    await #expect(throws: CancellationError.self) { try await leaving.value }
    gate.open()
    #expect(try await staying.value.gray == 7)
    #expect(gallery.upstream.requestCount == 1)
  }

  @Test(
    "the download is cancelled with its last caller, unless little of it is left",
    arguments: [200_000, 40_000])
  func lastLeaves(left: Int) async throws {
    let gate = Gate()
    let body = CountingDecoder.bytes(7, padding: 399_994)
    let gallery = try Gallery(answer: { _ in
      var response = Gallery.response(body, ["Cache-Control": "max-age=60"])
      response.steps = [
        .bytes(body.prefix(400_000 - left)), .wait(gate), .bytes(body.dropFirst(400_000 - left)),
      ]
      return response
    })
    let request = try gallery.request()
    let caller = Task { try await gallery.images.image(for: request) }
    await gate.waitForArrivals(1)
    gallery.images.cancel(request)
    await #expect(throws: CancellationError.self) { try await caller.value }
    // The download may end later than the wait of its caller.
    if left == 200_000 { try await until { gallery.upstream.cancelledBodies == 1 } }
    gate.open()
    if left == 40_000 {
      try await until { try await gallery.images.cachedImage(for: request) != nil }
    } else {
      #expect(try await gallery.images.cachedImage(for: request) == nil)
    }
    #expect(gallery.images.jobs.count == 0 && gallery.upstream.requestCount == 1)
  }

  @Test("a cancelled download goes on where it was when the image is asked for again")
  func resumed() async throws {
    let gate = Gate()
    let body = CountingDecoder.bytes(7, padding: 399_994)
    let gallery = try Gallery(answer: { request in
      let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Accept-Ranges": "bytes"]
      guard let range = request["range"], range.hasPrefix("bytes=") else {
        var response = Gallery.response(body, fields)
        response.steps = [.bytes(body.prefix(200_000)), .wait(gate), .bytes(body.dropFirst(200_000))]
        return response
      }
      let start = Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
      var response = Gallery.response(body.dropFirst(start), fields)
      response.head.status = .partialContent
      response.head.headerFields[.contentRange] = "bytes \(start)-399999/400000"
      return response
    })
    let request = try gallery.request()
    let caller = Task { try await gallery.images.image(for: request) }
    await gate.waitForArrivals(1)
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    try await until { gallery.upstream.cancelledBodies == 1 }
    #expect(try await gallery.images.image(for: request).gray == 7)
    #expect(gallery.upstream.requests.last?["range"]?.hasPrefix("bytes=200000-") == true)
  }

  @Test("downloads wait in the order of their priority, which a later caller raises")
  func priorities() async throws {
    let gate = Gate()
    let gallery = try Gallery(answer: { request in
      request.head.path == "/first"
        ? Gallery.response(CountingDecoder.bytes(1), ["Cache-Control": "max-age=60"]).stallingBeforeHead(
          at: gate) : nil
    }) { $0.downloadLimit = 1 }
    let images = gallery.images
    let first = Task { try await images.image(for: gallery.request("/first")) }
    await gate.waitForArrivals(1)
    var others: [Task<DecodedImage, any Error>] = []
    for (index, priority) in [ImagePriority.low, .normal, .low, .high].enumerated() {
      let request = try gallery.request("/\(index)", priority: priority)
      others.append(Task { try await images.image(for: request) })
      try await until { images.downloadPermits.waitingPriorities.count == index + 1 }
    }
    // The third picture comes into view.
    let raised = try gallery.request("/2", [.thumbnail(width: 2, height: 2)], priority: .high)
    others.append(Task { try await images.image(for: raised) })
    try await until {
      images.downloadPermits.waitingPriorities.count { $0 == ImagePriority.high.rawValue } == 2
    }
    gate.open()
    _ = try await first.value
    for other in others { _ = try await other.value }
    #expect(gallery.upstream.requests.compactMap(\.head.path) == ["/first", "/2", "/3", "/1", "/0"])
  }

  @Test("prefetched images are in memory; those that are stopped are not")
  func prefetch() async throws {
    let gate = Gate()
    let gallery = try Gallery(answer: { request in
      request.head.path == "/slow"
        ? Gallery.response(CountingDecoder.bytes(1), ["Cache-Control": "max-age=60"]).stallingBeforeHead(
          at: gate) : nil
    })
    let (fast, slow) = (try gallery.request("/fast"), try gallery.request("/slow"))
    gallery.images.prefetch([fast, slow, slow])
    await gate.waitForArrivals(1)
    try await until { gallery.images.imageInMemory(for: fast) != nil }
    gallery.images.stopPrefetching([slow])
    try await until { gallery.images.jobs.count == 0 }
    gate.open()
    #expect(try await gallery.images.cachedImage(for: slow) == nil)
    #expect(gallery.upstream.requestCount == 2)
    gallery.images.prefetch([slow])
    gallery.images.stopPrefetching()
    try await until { gallery.images.prefetches.withLock { $0.isEmpty } }
  }
}

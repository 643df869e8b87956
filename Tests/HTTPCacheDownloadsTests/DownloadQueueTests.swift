import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The queue of downloads", .timeLimit(.minutes(10)))
struct DownloadQueueTests {
  @Test("a download ends as an entry of the cache, and from there without the origin")
  func entry() async throws {
    let kitchen = try DownloadKitchen()
    let id = try kitchen.add()
    #expect(try await kitchen.end(id) == .done(.fetched))
    #expect(try await kitchen.cache.file(for: kitchen.download().request)?.length == 100_000)
    let again = try kitchen.add("/file", to: "copy")
    #expect(again != id)
    #expect(try await kitchen.end(again) == .done(.cache))
    #expect(kitchen.contents("copy") == kitchen.origin.content)
    #expect(kitchen.upstream.requestCount == 1)
  }

  @Test("no more transfers run at a time than the limits allow, in total and per host")
  func limits() async throws {
    let kitchen = try DownloadKitchen(count: 10) {
      $0.totalLimit = 3
      $0.perHostLimit = 2
    }
    let gate = Gate()
    kitchen.origin.change { $0.gate = gate }
    var ids: [DownloadID] = []
    for index in 0..<4 { ids.append(try kitchen.add("/\(index)")) }
    ids.append(try kitchen.queue.add(Download("https://example.org/a")))
    ids.append(try kitchen.queue.add(Download("https://example.net/a")))
    await gate.waitForArrivals(3)
    #expect(kitchen.queue.summary.running == 3)
    #expect(kitchen.queue.summary.waiting == 3)
    #expect(kitchen.queue.status(of: ids[2])?.state == .waiting(.slot))
    #expect(Set(kitchen.upstream.requests.map(\.head.authority)) == ["example.com", "example.org"])
    kitchen.queue.setLimits(total: 6, perHost: 3)
    await gate.waitForArrivals(5)
    #expect(kitchen.queue.status(of: ids[3])?.state == .waiting(.slot))
    gate.open()
    for id in ids { #expect(try await kitchen.end(id) == .done(.fetched)) }
    #expect(kitchen.queue.summary.done == 6)
  }

  @Test("priority decides who starts, then the order, and both can change")
  func order() async throws {
    let kitchen = try DownloadKitchen(count: 10) { $0.totalLimit = 1 }
    let gate = Gate()
    kitchen.origin.change { $0.gate = gate }
    var ids: [DownloadID] = []
    for index in 0..<5 { ids.append(try kitchen.add("/\(index)")) }
    await gate.waitForArrivals(1)
    kitchen.queue.setPriority(1, of: ids[4])
    kitchen.queue.move(ids[3], before: ids[1])
    kitchen.queue.move(ids[1], before: nil)
    #expect(kitchen.queue.downloads.map(\.id) == [ids[4], ids[0], ids[3], ids[2], ids[1]])
    gate.open()
    for id in ids { _ = try await kitchen.end(id) }
    #expect(kitchen.upstream.requests.compactMap(\.head.path) == ["/0", "/4", "/3", "/2", "/1"])
  }

  @Test("moving between neighbours never runs out of places")
  func moving() throws {
    let kitchen = try DownloadKitchen { $0.totalLimit = 1 }
    kitchen.origin.change { $0.gate = Gate() }
    var ids: [DownloadID] = []
    for index in 0..<4 { ids.append(try kitchen.add("/\(index)")) }
    for _ in 0..<60 {
      kitchen.queue.move(ids[2], before: ids[1])
      kitchen.queue.move(ids[3], before: ids[2])
      kitchen.queue.move(ids[1], before: ids[2])
      ids = [ids[0], ids[3], ids[1], ids[2]]
      #expect(kitchen.queue.downloads.map(\.id) == ids)
    }
  }

  @Test("a paused download goes on where it stopped, and gives its slot away meanwhile")
  func pausing() async throws {
    let kitchen = try DownloadKitchen(count: 2_000_000, onDisk: true) { $0.totalLimit = 1 }
    let gate = Gate()
    kitchen.origin.change { state in
      let bytes = BodyBytes(state.content[..<1_000_000])
      state.answers = [
        ScriptedResponse(
          head: HTTPResponse(
            status: .ok,
            headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "2000000"]),
          steps: [.bytes(bytes), .wait(gate)], announcedLength: 2_000_000)
      ]
    }
    let first = try kitchen.add("/first", to: "first")
    let second = try kitchen.add("/second")
    await gate.waitForArrivals(1)
    kitchen.queue.pause(first)
    #expect(kitchen.queue.status(of: first)?.state == .paused)
    #expect(try await kitchen.end(second) == .done(.fetched))
    kitchen.queue.resume(first)
    #expect(try await kitchen.end(first) == .done(.fetched))
    #expect(kitchen.upstream.requests.last?["Range"] == "bytes=1000000-")
    #expect(kitchen.contents("first") == kitchen.origin.content)
    #expect(kitchen.queue.status(of: first)?.restarts == 0)
  }

  @Test("a cancelled download stays in the list and can start again; a removed one is gone")
  func cancelling() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    let gate = Gate()
    kitchen.origin.change { $0.gate = gate }
    let first = try kitchen.add("/1")
    let second = try kitchen.add("/2")
    await gate.waitForArrivals(2)
    kitchen.queue.cancel(first)
    kitchen.queue.remove(second)
    #expect(kitchen.queue.status(of: first)?.state == .cancelled)
    #expect(kitchen.queue.downloads.map(\.id) == [first])
    #expect(await kitchen.queue.finished(second) == nil)
    gate.open()
    kitchen.queue.resume(first)
    // The cancelled request may have got its ten bytes all the same: then they are stored already.
    let end = try await kitchen.end(first)
    guard case .done = end else {
      Issue.record("\(end)")
      return
    }
  }

  @Test("removing a download that never began leaves the part that another one keeps beside its destination")
  func removingBeforeBeginning() throws {
    let kitchen = try DownloadKitchen(count: 10) { $0.totalLimit = 0 }
    let part = try PartFile(beside: kitchen.path("first"))
    part.leaveBody()
    part.close()
    kitchen.queue.remove(try kitchen.add("/1", to: "first"))
    #expect(try kitchen.partFiles() == ["first.httpcache-part"])
  }

  @Test("two downloads of one URL share a transfer: cancelling one leaves it to the other")
  func sharing() async throws {
    let kitchen = try DownloadKitchen(count: 300_000, onDisk: true)
    let gate = Gate()
    kitchen.origin.change { state in
      let head = HTTPResponse(
        status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "300000"])
      let (begin, rest) = (BodyBytes(state.content[..<200_000]), BodyBytes(state.content[200_000...]))
      state.answers = [
        ScriptedResponse(
          head: head, steps: [.bytes(begin), .wait(gate), .bytes(rest)], announcedLength: 300_000)
      ]
    }
    let first = try kitchen.add("/file", to: "first")
    let second = try kitchen.add("/file", to: "second")
    await gate.waitForArrivals(1)
    await kitchen.wait(second) { $0 == .receiving }
    kitchen.queue.cancel(first)
    gate.open()
    #expect(try await kitchen.end(second) == .done(.fetched))
    #expect(kitchen.queue.status(of: first)?.state == .cancelled)
    #expect(kitchen.contents("second") == kitchen.origin.content)
    #expect(kitchen.contents("first") == nil)
    #expect(kitchen.upstream.requestCount == 1)
  }

  @Test("a task that waits for a download can be cancelled, and the download goes on")
  func waiting() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    let gate = Gate()
    kitchen.origin.change { $0.gate = gate }
    let id = try kitchen.add()
    await gate.waitForArrivals(1)
    let waiter = Task { await kitchen.queue.finished(id) }
    waiter.cancel()
    #expect(await waiter.value == nil)
    #expect(kitchen.queue.status(of: id)?.state.isRunning == true)
    gate.open()
    #expect(await kitchen.queue.finished(id)?.state == .done(.fetched))
  }

  @Test("what cannot be downloaded is refused, with the value")
  func refusals() throws {
    let kitchen = try DownloadKitchen { $0.countLimit = 1 }
    func code(_ download: @autoclosure () throws -> Download) -> DownloadError.Code? {
      do {
        try kitchen.queue.add(try download())
        return nil
      } catch { return (error as? DownloadError)?.code }
    }
    #expect(code(try Download("file:///etc/passwd")) == .invalidRequest)
    #expect(code(try Download("/file")) == .invalidRequest)
    for path in ["relative", "/folder/", "/a/..", "", "/a\0b"] {
      #expect(code(try Download("https://example.com/", to: path)) == .invalidDestination, "\(path)")
    }
    var post = try Download("https://example.com/")
    post.request.method = .post
    #expect(code(post) == .invalidRequest)
    #expect(code(try Download("https://example.com/1")) == nil)
    #expect(code(try Download("https://example.com/2")) == .tooMany)
  }

  @Test("a mirror that is no http or https URL is refused, with the value")
  func mirrors() throws {
    let kitchen = try DownloadKitchen()
    for mirror in ["ftp://mirror.example/a", "/a", ""] {
      var download = try Download("https://example.com/a")
      download.mirrors = ["https://mirror.example/a", mirror]
      let error = #expect(throws: DownloadError.self) { try kitchen.queue.add(download) }
      #expect(error?.code == .invalidRequest && error?.message.contains("'\(mirror)'") == true)
    }
    #expect(kitchen.queue.downloads.isEmpty)
  }

  @Test("adding the same URL to the same destination again starts the download again")
  func addingAgain() async throws {
    let kitchen = try DownloadKitchen(count: 10)
    let id = try kitchen.add("/a", to: "a")
    _ = try await kitchen.end(id)
    #expect(try kitchen.add("/a", to: "a") == id)
    #expect(try await kitchen.end(id).isEnded)
    #expect(kitchen.queue.downloads.count == 1)
  }

  @Test("each attempt's request is prepared, and what it adds is not in the list")
  func preparing() async throws {
    let kitchen = try DownloadKitchen(count: 10) {
      $0.prepare = { request in
        var request = request
        request.headerFields[.authorization] = "Bearer secret"
        return request
      }
    }
    let id = try kitchen.add()
    _ = try await kitchen.end(id)
    #expect(kitchen.upstream.requests.last?["Authorization"] == "Bearer secret")
    #expect(kitchen.queue.status(of: id)?.download.request.headerFields[.authorization] == nil)
  }
}

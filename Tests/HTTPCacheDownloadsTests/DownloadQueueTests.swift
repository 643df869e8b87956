import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The queue of downloads", .timeLimit(.minutes(10)))
struct DownloadQueueTests {
  @Test("a download ends as an entry of the cache, and from there without the origin")
  func entry() async throws {
    let test = try TestQueue()
    let id = try test.add()
    #expect(try await test.end(id) == .done(.fetched))
    #expect(try await test.cache.file(for: test.download().request)?.length == 100_000)
    let again = try test.add("/file", to: "copy")
    #expect(again != id)
    #expect(try await test.end(again) == .done(.cache))
    #expect(test.contents("copy") == test.origin.content)
    #expect(test.upstream.requestCount == 1)
  }

  @Test("no more transfers run at a time than the limits allow, in total and per host")
  func limits() async throws {
    let test = try TestQueue(count: 10) {
      $0.totalLimit = 3
      $0.perHostLimit = 2
    }
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    var ids: [DownloadID] = []
    for index in 0..<4 { ids.append(try test.add("/\(index)")) }
    ids.append(try test.queue.add(Download("https://example.org/a")))
    ids.append(try test.queue.add(Download("https://example.net/a")))
    await gate.waitForArrivals(3)
    #expect(test.queue.summary.running == 3)
    #expect(test.queue.summary.waiting == 3)
    #expect(test.queue.status(of: ids[2])?.state == .waiting(.slot))
    #expect(Set(test.upstream.requests.map(\.head.authority)) == ["example.com", "example.org"])
    test.queue.setLimits(total: 6, perHost: 3)
    await gate.waitForArrivals(5)
    #expect(test.queue.status(of: ids[3])?.state == .waiting(.slot))
    gate.open()
    for id in ids { #expect(try await test.end(id) == .done(.fetched)) }
    #expect(test.queue.summary.done == 6)
  }

  @Test("priority decides who starts, then the order, and both can change")
  func order() async throws {
    let test = try TestQueue(count: 10) { $0.totalLimit = 1 }
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    var ids: [DownloadID] = []
    for index in 0..<5 { ids.append(try test.add("/\(index)")) }
    await gate.waitForArrivals(1)
    test.queue.setPriority(1, of: ids[4])
    test.queue.move(ids[3], before: ids[1])
    test.queue.move(ids[1], before: nil)
    #expect(test.queue.downloads.map(\.id) == [ids[4], ids[0], ids[3], ids[2], ids[1]])
    gate.open()
    for id in ids { _ = try await test.end(id) }
    #expect(test.upstream.requests.compactMap(\.head.path) == ["/0", "/4", "/3", "/2", "/1"])
  }

  @Test("moving between neighbours never runs out of places")
  func moving() throws {
    let test = try TestQueue { $0.totalLimit = 1 }
    test.origin.change { $0.gate = Gate() }
    var ids: [DownloadID] = []
    for index in 0..<4 { ids.append(try test.add("/\(index)")) }
    for _ in 0..<60 {
      test.queue.move(ids[2], before: ids[1])
      test.queue.move(ids[3], before: ids[2])
      test.queue.move(ids[1], before: ids[2])
      ids = [ids[0], ids[3], ids[1], ids[2]]
      #expect(test.queue.downloads.map(\.id) == ids)
    }
  }

  @Test("a paused download goes on where it stopped, and gives its slot away meanwhile")
  func pausing() async throws {
    let test = try TestQueue(count: 2_000_000, onDisk: true) { $0.totalLimit = 1 }
    let gate = Gate()
    test.origin.change { state in
      let bytes = BodyBytes(state.content[..<1_000_000])
      state.answers = [
        ScriptedResponse(
          head: HTTPResponse(
            status: .ok,
            headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "2000000"]),
          steps: [.bytes(bytes), .wait(gate)], announcedLength: 2_000_000)
      ]
    }
    let first = try test.add("/first", to: "first")
    let second = try test.add("/second")
    await gate.waitForArrivals(1)
    test.queue.pause(first)
    #expect(test.queue.status(of: first)?.state == .paused)
    #expect(try await test.end(second) == .done(.fetched))
    test.queue.resume(first)
    #expect(try await test.end(first) == .done(.fetched))
    #expect(test.upstream.requests.last?["Range"] == "bytes=1000000-")
    #expect(test.contents("first") == test.origin.content)
    #expect(test.queue.status(of: first)?.restarts == 0)
  }

  @Test("a cancelled download stays in the list and can start again; a removed one is gone")
  func cancelling() async throws {
    let test = try TestQueue(count: 10)
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let first = try test.add("/1")
    let second = try test.add("/2")
    await gate.waitForArrivals(2)
    test.queue.cancel(first)
    test.queue.remove(second)
    #expect(test.queue.status(of: first)?.state == .cancelled)
    #expect(test.queue.downloads.map(\.id) == [first])
    #expect(await test.queue.finished(second) == nil)
    gate.open()
    test.queue.resume(first)
    // The cancelled request may have got its ten bytes all the same: then they are stored already.
    let end = try await test.end(first)
    guard case .done = end else {
      Issue.record("\(end)")
      return
    }
  }

  @Test("removing a download that never began leaves the part that another one keeps beside its destination")
  func removingBeforeBeginning() throws {
    let test = try TestQueue(count: 10) { $0.totalLimit = 0 }
    let part = try PartFile(beside: test.path("first"))
    part.leaveBody()
    part.close()
    test.queue.remove(try test.add("/1", to: "first"))
    #expect(try test.partFiles() == ["first.httpcache-part"])
  }

  @Test("two downloads of one URL share a transfer: cancelling one leaves it to the other")
  func sharing() async throws {
    let test = try TestQueue(count: 300_000, onDisk: true)
    let gate = Gate()
    test.origin.change { state in
      let head = HTTPResponse(
        status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .contentLength: "300000"])
      let (begin, rest) = (BodyBytes(state.content[..<200_000]), BodyBytes(state.content[200_000...]))
      state.answers = [
        ScriptedResponse(
          head: head, steps: [.bytes(begin), .wait(gate), .bytes(rest)], announcedLength: 300_000)
      ]
    }
    let first = try test.add("/file", to: "first")
    let second = try test.add("/file", to: "second")
    await gate.waitForArrivals(1)
    await test.wait(second) { $0 == .receiving }
    test.queue.cancel(first)
    gate.open()
    #expect(try await test.end(second) == .done(.fetched))
    #expect(test.queue.status(of: first)?.state == .cancelled)
    #expect(test.contents("second") == test.origin.content)
    #expect(test.contents("first") == nil)
    #expect(test.upstream.requestCount == 1)
  }

  @Test("a task that waits for a download can be cancelled, and the download goes on")
  func waiting() async throws {
    let test = try TestQueue(count: 10)
    let gate = Gate()
    test.origin.change { $0.gate = gate }
    let id = try test.add()
    await gate.waitForArrivals(1)
    let waiter = Task { await test.queue.finished(id) }
    waiter.cancel()
    #expect(await waiter.value == nil)
    #expect(test.queue.status(of: id)?.state.isRunning == true)
    gate.open()
    #expect(await test.queue.finished(id)?.state == .done(.fetched))
  }

  @Test("what cannot be downloaded is refused, with the value")
  func refusals() throws {
    let test = try TestQueue { $0.countLimit = 1 }
    func code(_ download: @autoclosure () throws -> Download) -> DownloadError.Code? {
      do {
        try test.queue.add(try download())
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
    let test = try TestQueue()
    for mirror in ["ftp://mirror.example/a", "/a", ""] {
      var download = try Download("https://example.com/a")
      download.mirrors = ["https://mirror.example/a", mirror]
      let error = #expect(throws: DownloadError.self) { try test.queue.add(download) }
      #expect(error?.code == .invalidRequest && error?.message.contains("'\(mirror)'") == true)
    }
    #expect(test.queue.downloads.isEmpty)
  }

  @Test("adding the same URL to the same destination again starts the download again")
  func addingAgain() async throws {
    let test = try TestQueue(count: 10)
    let id = try test.add("/a", to: "a")
    _ = try await test.end(id)
    #expect(try test.add("/a", to: "a") == id)
    #expect(try await test.end(id).isEnded)
    #expect(test.queue.downloads.count == 1)
  }

  @Test("each attempt's request is prepared, and what it adds is not in the list")
  func preparing() async throws {
    let test = try TestQueue(count: 10) {
      $0.prepare = { request in
        var request = request
        request.headerFields[.authorization] = "Bearer secret"
        return request
      }
    }
    let id = try test.add()
    _ = try await test.end(id)
    #expect(test.upstream.requests.last?["Authorization"] == "Bearer secret")
    #expect(test.queue.status(of: id)?.download.request.headerFields[.authorization] == nil)
  }
}

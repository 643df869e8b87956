import Foundation
import HTTPCacheDownloads
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// Foundation's `Progress` of a download in a queue.
@Suite(.timeLimit(.minutes(10))) struct DownloadProgressObjectTests {
  private let gate = Gate()
  private let queue: DownloadQueue

  init() throws {
    let bytes = BodyBytes([UInt8](repeating: 7, count: 1_000))
    let upstream = ScriptedUpstream { [gate] _ in
      ScriptedResponse(
        head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        steps: [.bytes(bytes), .wait(gate), .bytes(bytes)], announcedLength: 2_000)
    }
    queue = try DownloadQueue(
      name: "progress", cache: try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 1 << 20)),
      upstream: upstream)
  }

  /// Waits until a condition holds, or the time limit of the test passes.
  private func wait(_ condition: () -> Bool) async { try? await until(condition) }

  @Test("it has the bytes, and is finished when the download is")
  func finishes() async throws {
    let id = try queue.add(Download("https://example.com/a"))
    let progress = queue.progress(of: id)
    await wait { progress.totalUnitCount == 2_000 }
    #expect(!progress.isFinished && progress.kind == .file)
    gate.open()
    await wait { progress.isFinished }
    #expect(progress.completedUnitCount == 2_000)
    await queue.close()
  }

  @Test("pausing, resuming and cancelling it does so with the download")
  func controls() async throws {
    queue.setLimits(total: 0)
    let id = try queue.add(Download("https://example.com/a"))
    let progress = queue.progress(of: id)
    progress.pause()
    await wait { queue.status(of: id)?.state == .paused }
    progress.resume()
    await wait { queue.status(of: id)?.state == .waiting(.slot) }
    progress.cancel()
    await wait { queue.status(of: id)?.state == .cancelled }
    await queue.close()
  }

  @Test("a progress that is not used any more leaves nothing behind")
  func released() async throws {
    queue.setLimits(total: 0)
    let id = try queue.add(Download("https://example.com/a"))
    weak var released: Progress?
    do {
      let progress = queue.progress(of: id)
      released = progress
      #expect(progress.isPausable)
    }
    queue.setPriority(1, of: id)
    await wait { released == nil }
    await queue.close()
  }
}

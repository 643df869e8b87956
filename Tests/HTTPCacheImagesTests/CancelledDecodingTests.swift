import Foundation
import HTTPCacheFiles
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheImages

/// A decoder that ends when its task is cancelled, and not before.
private final class EndlessDecoder: ImageDecoder {
  let (begun, ended) = (Flag(), Flag())

  func recognizes(_ bytes: BodyBytes) -> Bool { true }

  func size(of bytes: BodyBytes) throws(ImageError) -> ImageSize { ImageSize(width: 1, height: 1) }

  func decode(_ bytes: BodyBytes, options: ImageDecodingOptions) throws(ImageError) -> DecodedImage {
    begun.set()
    while !Task.isCancelled {}
    ended.set()
    throw .cancelled
  }
}

@Suite("Cancelled decoding", .timeLimit(.minutes(10)))
struct CancelledDecodingTests {
  @Test("the decoder of the last caller that leaves sees that its task is cancelled")
  func seen() async throws {
    let decoder = EndlessDecoder()
    let gallery = try Gallery(configure: { $0.formats = ImageFormats([decoder]) })
    let request = try gallery.request()
    let caller = Task { try await gallery.images.image(for: request) }
    try await until { decoder.begun.isSet }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    try await until { decoder.ended.isSet }
  }

  @Test("decoders run on threads of their own: more at once than Swift has threads")
  func threads() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount + 2
    let running = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          try await SeparateThreads.run {
            running.increment()
            // Each waits for all others.
            while running.value < count { sched_yield() }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  #if ImageCodecs
    private static let animation = GIFSample(
      pictures: [.init((0, 0, 4, 3), color: 1), .init((0, 0, 4, 3), color: 2)])

    @Test("each decoder ends with an error in a task that is cancelled")
    func decoders() async throws {
      let picture = try DecodedImage(
        size: ImageSize(width: 4, height: 4), pixels: BodyBytes([UInt8](repeating: 255, count: 64)))
      var files = [Self.animation.bytes, BodyBytes(ProgressiveSample.bytes), HEIFSample.grid().bytes]
      for encoder in [PNGEncoder(), WebPEncoder()] as [any ImageEncoder] {
        files.append(try encoder.encode(picture))
      }
      for bytes in files {
        let task = Task { () -> ImageError? in
          withUnsafeCurrentTask { $0?.cancel() }
          do throws(ImageError) { _ = try ImageFormats.standard.frames(of: bytes) } catch { return error }
          return nil
        }
        #expect(await task.value == .cancelled)
      }
    }
  #endif
}

import HTTPCaching
import HTTPTypes

/// A body that waits while its task is suspended, and tells the task how much was read.
final class PausableBody: BodySource {
  private let base: any BodySource
  private let task: CachedURLSessionTask

  init(_ body: MessageBody, _ task: CachedURLSessionTask) {
    base = body.source
    self.task = task
  }

  var length: Int64? { base.length }
  var trailers: HTTPFields { base.trailers }

  func next() async throws -> BodyBytes? {
    try await task.whileSuspended()
    guard let bytes = try await base.next() else { return nil }
    task.received(bytes.count)
    return bytes
  }

  func cancel() { base.cancel() }
}

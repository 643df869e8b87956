import Dispatch
import Foundation
import HTTPCaching

/// Writes a body to a file, on a thread that may block.
final class FileSink: @unchecked Sendable {
  // @unchecked Sendable because `handle` is only used on `queue`.
  private let handle: FileHandle
  private let queue = DispatchQueue(label: "swift-http-cache.download")

  private init(_ handle: FileHandle) { self.handle = handle }

  /// Writes a body to a temporary file.
  ///
  /// - Throws: what the body throws, `CocoaError` if the file cannot be written.
  static func file(
    of body: MessageBody, in folder: URL, _ progress: (@Sendable (DownloadProgress) -> Void)?
  ) async throws -> TemporaryFile {
    if let stored = body.source.stored, stored.range.lowerBound == 0,
      stored.range.upperBound == stored.reader.length,
      let file = await clone(of: stored, in: folder)
    {
      let length = Int64(stored.range.count)
      progress?(DownloadProgress(received: length, expected: length))
      return file
    }
    let file = try TemporaryFile(in: folder)
    let sink = FileSink(try FileHandle(forWritingTo: file.url))
    let received = try await sink.write(body, after: 0, of: body.length, progress)
    try await sink.close()
    progress?(DownloadProgress(received: received, expected: received))
    return file
  }

  /// Writes a body behind the bytes of a part, which then is the whole file.
  ///
  /// - Throws: what the body throws, `CocoaError` if the file cannot be written. The bytes that came stay.
  static func complete(
    _ part: DownloadPart, with body: MessageBody, _ progress: (@Sendable (DownloadProgress) -> Void)?
  ) async throws {
    let handle = FileHandle(fileDescriptor: part.descriptor, closeOnDealloc: false)
    let received = try await FileSink(handle).write(
      body, after: part.received, of: part.note.length, progress)
    // A cancelled body may end as if it were complete.
    try Task.checkCancellation()
    guard received == part.note.length else {
      throw UpstreamError(.protocol, "the body ended at byte \(received) of \(part.note.length)")
    }
  }

  /// - Returns: the number of bytes in the file.
  private func write(
    _ body: MessageBody, after start: Int64, of expected: Int64?,
    _ progress: (@Sendable (DownloadProgress) -> Void)?
  ) async throws -> Int64 {
    var received = start
    for try await bytes in body {
      try await write(bytes)
      received += Int64(bytes.count)
      progress?(DownloadProgress(received: received, expected: expected))
    }
    return received
  }

  /// Clones a stored body into a file; nil if it has to be read instead.
  private static func clone(of stored: StoredBodyRange, in folder: URL) async -> TemporaryFile? {
    let file = TemporaryFile(unmadeIn: folder)
    do {
      // A store's files have mode 0600; this file gets the mode of any file that the user makes.
      let mode = try TemporaryFile(in: folder).mode
      try await stored.reader.clone(to: file.url.path)
      try file.setMode(mode)
      return file
    } catch {
      return nil
    }
  }

  private func write(_ bytes: BodyBytes) async throws {
    try await onQueue { handle in
      try bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return }
        let data = Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: buffer.count,
          deallocator: .none)
        try handle.write(contentsOf: data)
      }
    }
  }

  private func close() async throws { try await onQueue { try $0.close() } }

  private func onQueue(_ work: @escaping @Sendable (FileHandle) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work(self.handle) }) }
    }
  }
}

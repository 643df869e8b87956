import Dispatch
import Foundation
import HTTPCaching

/// Writes a body to a new file, on a thread that may block.
final class FileSink: @unchecked Sendable {
  // @unchecked Sendable because `handle` is only used on `queue`.
  private let handle: FileHandle
  private let queue = DispatchQueue(label: "swift-http-cache.download")

  private init(_ url: URL) throws { handle = try FileHandle(forWritingTo: url) }

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
    let sink = try FileSink(file.url)
    var received: Int64 = 0
    for try await bytes in body {
      try await sink.write(bytes)
      received += Int64(bytes.count)
      progress?(DownloadProgress(received: received, expected: body.length))
    }
    try await sink.close()
    progress?(DownloadProgress(received: received, expected: received))
    return file
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

import HTTPCaching

/// The bytes of a body, as they arrive.
///
/// The transfer of a stored response waits for a slow reader. Foundation does not wait: bytes that it has received
/// and that are not read yet are kept as `URLSessionUpstream` says. A sequence that is dropped before its end stops its transfer, unless other readers use it.
///
/// Only one task may read; a second iterator continues where the first one stopped.
public struct CachedBytes: AsyncSequence, Sendable {
  /// Bytes.
  public typealias Element = UInt8

  let body: MessageBody
  let url: URL?

  /// The length in bytes, if it is known before the end.
  public var length: Int64? { body.length }

  /// The bytes in the pieces in which they arrive, which is much faster.
  public var chunks: Chunks { Chunks(body: body, url: url) }

  /// The bytes as lines of UTF-8.
  public var lines: Lines { Lines(bytes: self) }

  /// Starts to read.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(body: body.makeAsyncIterator(), url: url)
  }

  /// Reads byte by byte.
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline var buffer: [UInt8] = []
    @usableFromInline var position = 0
    let body: MessageBody.AsyncIterator
    let url: URL?

    /// The next byte; nil at the end.
    ///
    /// - Throws: `URLError`; `CacheError` if the stored body is damaged.
    @inlinable public mutating func next() async throws -> UInt8? {
      if position == buffer.count { try await refill() }
      guard position < buffer.count else { return nil }
      defer { position += 1 }
      return buffer[position]
    }

    @usableFromInline mutating func refill() async throws {
      position = 0
      buffer = []
      do {
        buffer = try await body.next()?.array ?? []
      } catch {
        throw CachedURLSession.foundationError(error, url)
      }
    }
  }

  /// The bytes of a body in non-empty pieces.
  public struct Chunks: AsyncSequence, Sendable {
    /// Non-empty pieces.
    public typealias Element = Data

    let body: MessageBody
    let url: URL?

    /// Starts to read.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(body: body.makeAsyncIterator(), url: url)
    }

    /// Reads piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let body: MessageBody.AsyncIterator
      let url: URL?

      /// The next piece; nil at the end.
      ///
      /// - Throws: `URLError`; `CacheError` if the stored body is damaged.
      public mutating func next() async throws -> Data? {
        do {
          return try await body.next().map { Data($0) }
        } catch {
          throw CachedURLSession.foundationError(error, url)
        }
      }
    }
  }

  /// The lines of a body, without their ends: LF, CR LF, or CR. Empty lines are included. Invalid UTF-8
  /// becomes U+FFFD.
  public struct Lines: AsyncSequence, Sendable {
    /// Lines.
    public typealias Element = String

    let bytes: CachedBytes

    /// Starts to read.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(bytes: bytes.makeAsyncIterator())
    }

    /// Reads line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: CachedBytes.AsyncIterator
      var isAfterReturn = false

      /// The next line; nil at the end.
      ///
      /// - Throws: `URLError`; `CacheError` if the stored body is damaged.
      public mutating func next() async throws -> String? {
        var line: [UInt8] = []
        while let byte = try await bytes.next() {
          let belongsToReturn = isAfterReturn && byte == UInt8(ascii: "\n")
          isAfterReturn = byte == UInt8(ascii: "\r")
          if belongsToReturn { continue }
          if byte == UInt8(ascii: "\n") || isAfterReturn { return String(decoding: line, as: UTF8.self) }
          line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
      }
    }
  }
}

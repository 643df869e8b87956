public import Foundation
import HTTPCaching

/// The bytes of a body, as they arrive.
///
/// A reader that falls behind is waited for: the rest of the body is then read from the store, or
/// fetched in ranges. Only where a response is neither stored nor comes from an origin that takes ranges
/// does Foundation keep in memory what has not been read. A sequence that is dropped before its end
/// stops what feeds it, unless others read it too.
///
/// One task reads; a second iterator goes on where the first one stopped.
public struct CachedBytes: AsyncSequence, Sendable {
  /// Bytes.
  public typealias Element = UInt8

  let body: MessageBody
  let url: URL?

  /// The length in bytes, if it is known before the end.
  public var length: Int64? { body.length }

  /// The same bytes in the pieces in which they arrive, which takes far less time.
  public var chunks: Chunks { Chunks(body: body, url: url) }

  /// The bytes as lines of UTF-8.
  public var lines: Lines { Lines(bytes: self) }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(body: body.makeAsyncIterator(), url: url)
  }

  /// Reads byte by byte.
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline var buffer: [UInt8] = []
    @usableFromInline var position = 0
    private let body: MessageBody.AsyncIterator
    private let url: URL?

    init(body: MessageBody.AsyncIterator, url: URL?) {
      self.body = body
      self.url = url
    }

    /// The next byte; nil at the end.
    ///
    /// - Throws: `URLError`; `CacheError` where what is stored is damaged.
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
        throw CachedURLSession.foundations(error, url)
      }
    }
  }

  /// The bytes of a body in pieces that are never empty.
  public struct Chunks: AsyncSequence, Sendable {
    /// Pieces that are never empty.
    public typealias Element = Data

    let body: MessageBody
    let url: URL?

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(body: body.makeAsyncIterator(), url: url)
    }

    /// Reads piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let body: MessageBody.AsyncIterator
      let url: URL?

      /// The next piece; nil at the end.
      ///
      /// - Throws: `URLError`; `CacheError` where what is stored is damaged.
      public mutating func next() async throws -> Data? {
        do {
          return try await body.next().map { Data($0) }
        } catch {
          throw CachedURLSession.foundations(error, url)
        }
      }
    }
  }

  /// The lines of a body, without what ends them: LF, CR LF, or CR. Empty lines are handed over too.
  /// What is not UTF-8 becomes U+FFFD.
  public struct Lines: AsyncSequence, Sendable {
    /// Lines.
    public typealias Element = String

    let bytes: CachedBytes

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(bytes: bytes.makeAsyncIterator())
    }

    /// Reads line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: CachedBytes.AsyncIterator
      var isAfterReturn = false

      /// The next line; nil at the end.
      ///
      /// - Throws: `URLError`; `CacheError` where what is stored is damaged.
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

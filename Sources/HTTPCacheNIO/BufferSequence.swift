#if AsyncHTTPClient || Hummingbird
  package import HTTPCaching
  package import NIOCore

  /// A message body as NIO's buffers, pulled, so that the sender waits for the reader. A transfer that fails
  /// throws its error.
  package struct BufferSequence: AsyncSequence, Sendable {
    private let body: MessageBody

    package init(_ body: MessageBody) { self.body = body }

    package struct AsyncIterator: AsyncIteratorProtocol {
      let iterator: MessageBody.AsyncIterator

      package func next() async throws -> ByteBuffer? {
        do {
          return try await iterator.next().map { ByteBuffer($0) }
        } catch let error as UpstreamError {
          throw error.cause ?? error
        }
      }
    }

    package func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(iterator: body.makeAsyncIterator())
    }
  }
#endif

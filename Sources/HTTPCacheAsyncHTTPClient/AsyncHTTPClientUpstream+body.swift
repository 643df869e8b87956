#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheNIO
  import HTTPCaching
  import NIOCore

  extension AsyncHTTPClientUpstream {
    /// The body of a response with these fields, pulled, so that the network waits for its reader. It is read at most
    /// 256 KiB and one piece ahead, so that the network goes on while the reader stores a block.
    ///
    /// - Parameter length: the required number of bytes; nil if unknown.
    func body(
      _ pieces: HTTPClientResponse.Body, length: Int64?, describedBy fields: HTTPFields
    ) -> MessageBody {
      let body = MessageBody(
        PumpedBody(length: length, mostReady: 256 << 10) { pump in
          do {
            for try await piece in pieces {
              if let mark = BrokenBodyMark(piece) { throw mark.error }
              try await pump.write(piece)
            }
          } catch {
            throw UpstreamError(asyncHTTPClient: error)
          }
        })
      guard let limit = silence(of: fields) else { return body }
      let late = UpstreamError(.timeout, "no bytes for \(limit.components.seconds) s")
      return MessageBody(TimedBody(body, idle: limit, late: late, clock: clock))
    }
  }
#endif

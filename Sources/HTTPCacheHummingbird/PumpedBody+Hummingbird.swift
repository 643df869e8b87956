#if Hummingbird
  import HTTPCacheNIO
  import HTTPCaching
  import Hummingbird
  import NIOCore

  extension PumpedBody {
    /// The body of a route's response. The route waits until each piece is taken.
    ///
    /// - Parameter length: the number of bytes that the route announced, if any.
    convenience init(_ body: ResponseBody, length: Int64?) {
      self.init(length: length, mostReady: 1) { pump in
        do {
          try await body.write(PumpWriter(pump: pump))
        } catch let error as CancellationError {
          throw error
        } catch {
          throw UpstreamError(.protocol, "the route failed while it wrote the body", cause: error)
        }
        // No error for a body that has been finished.
        throw UpstreamError(.protocol, "the route did not finish its body")
      }
    }
  }

  /// Writes the body of a route into a pump.
  private struct PumpWriter: ResponseBodyWriter {
    let pump: BufferPump

    mutating func write(_ buffer: ByteBuffer) async throws { try await pump.write(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
      pump.finish(trailingHeaders ?? [:])
    }
  }
#endif

#if AsyncHTTPClient
  public import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2

  extension HTTPClient.Configuration {
    /// Makes requests fail if the status of their response is not between 100 and 999 (RFC 9110 §15).
    ///
    /// AsyncHTTPClient 1.37 ends the process at a status such as 001, so any origin can end it. A client that
    /// `CachedHTTPClient` makes has this; call it for a client of your own, before you make the client and after you
    /// set its connection initialisers, which still run.
    public mutating func failInvalidStatus() {
      let (http1, http2) = (http1_1ConnectionDebugInitializer, http2StreamChannelDebugInitializer)
      http1_1ConnectionDebugInitializer = { channel in
        InvalidStatusHandler<HTTPClientResponsePart>.add(toHTTP1: channel)
          .flatMap { http1?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
      http2StreamChannelDebugInitializer = { channel in
        InvalidStatusHandler<HTTP2Frame.FramePayload>.add(toHTTP2: channel)
          .flatMap { http2?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
    }
  }
#endif

#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPCacheLibC
  import HTTPCaching
  import NIOCore
  import NIOHPACK
  import NIOHTTP1
  import NIOHTTP2
  import NIOPosix
  import NIOSSL

  extension UpstreamError {
    /// The upstream error for an error of AsyncHTTPClient or of the libraries below it.
    init(asyncHTTPClient error: any Error) {
      switch error {
      case let error as UpstreamError:
        self = error
      case let error as HTTPClientError:
        self.init(Self.kind(error), Self.text(error), cause: error)
      case let error as HTTPParserError:
        self.init(.protocol, Self.text(error), cause: error)
      case is CancellationError:
        self.init(.cancelled, "cancelled", cause: error)
      case let error as NIOConnectionError:
        self.init(.unreachable, Self.text(error), cause: error)
      case is SocketAddressError:
        self.init(.unreachable, "the host name cannot be resolved", cause: error)
      case ChannelError.connectTimeout:
        self.init(.timeout, "no connection within the time limit", cause: error)
      case NIOSSLError.uncleanShutdown:
        self.init(.protocol, "the connection was closed without the end that TLS requires", cause: error)
      case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
        self.init(.tls, TLSFailure.text(error), cause: error)
      case let error as IOError:
        let kind = Self.kind(error)
        let doing = kind == .unreachable ? "cannot connect" : "the connection failed"
        self.init(kind, "\(doing): \(Self.reason(error))", cause: error)
      case is any NIOHTTP2Error, is any NIOHPACKError:
        self.init(.protocol, "the response is not valid HTTP/2: \(Self.name(error))", cause: error)
      default:
        self.init(.protocol, "\(error)", cause: error)
      }
    }

    /// Whether a connection ended before a response came.
    static func isClosedConnection(_ error: any Error) -> Bool {
      switch error {
      case let error as HTTPClientError: error == .remoteConnectionClosed
      case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: true
      case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
      default: false
      }
    }

    /// The name of an error in words: `ExcessivelyLargeHeaderBlock` becomes `excessively large header block`.
    private static func name(_ error: any Error) -> String {
      String(
        "\(type(of: error))".flatMap { $0.isUppercase ? [" ", Character($0.lowercased())] : [$0] }.drop {
          $0 == " "
        })
    }

    private static func text(_ error: HTTPClientError) -> String {
      switch error {
      case .remoteConnectionClosed: "the connection was closed before the end of the response"
      case .deadlineExceeded, .readTimeout: "no response within the time limit"
      case .connectTimeout: "no connection within the time limit"
      case .tlsHandshakeTimeout: "no TLS handshake within the time limit"
      default: error.shortDescription
      }
    }

    private static func text(_ error: HTTPParserError) -> String {
      error == .invalidEOFState
        ? "the connection was closed before the end of the response"
        : "the response is not valid HTTP: \(error)"
    }

    private static func kind(_ error: HTTPClientError) -> Kind {
      switch error {
      case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded,
        .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
        .httpProxyHandshakeTimeout:
        .timeout
      case .cancelled, .requestStreamCancelled, .alreadyShutdown: .cancelled
      case .emptyHost, .emptyScheme, .invalidURL: .unreachable
      default: .protocol
      }
    }

    private static func kind(_ error: IOError) -> Kind {
      switch error.errnoCode {
      case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENETDOWN, EHOSTDOWN: .unreachable
      case ETIMEDOUT: .timeout
      default: .protocol
      }
    }

    // NIO's own text calls every failure a reset.
    private static func reason(_ error: IOError) -> String { String(cString: strerror(error.errnoCode)) }

    private static func text(_ error: NIOConnectionError) -> String {
      let place = "\(error.host):\(error.port)"
      if let last = error.connectionErrors.last {
        if let cause = last.error as? IOError {
          return "no connection to \(place): \(reason(cause))"
        }
        return "no connection to \(place): \(last.error)"
      }
      return "the host name \(error.host) cannot be resolved"
    }
  }
#endif

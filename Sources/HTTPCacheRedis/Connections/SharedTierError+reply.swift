#if Redis
  import HTTPCacheLibC
  import HTTPCaching
  import NIOCore
  import NIOPosix

  extension SharedTierError {
    /// The error that a server's error reply is; nil for errors that their callers await.
    ///
    /// - Parameter reply: the text, which begins with a code in capitals.
    init?(reply: String) {
      let code = reply.prefix { $0 != " " }
      switch code {
      case "NOSCRIPT": return nil
      case "ERR" where reply.hasPrefix("ERR no such key"): return nil
      case "LOADING", "READONLY", "OOM", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF",
        "NOREPLICAS",
        "UNBLOCKED", "MOVED", "ASK":
        self.init(.unavailable, Self.cleaned(reply))
      case "ERR" where reply.hasPrefix("ERR max number of clients"):
        self.init(.unavailable, Self.cleaned(reply))
      case "WRONGTYPE", "CROSSSLOT":
        self.init(.protocol, Self.cleaned(reply))
      default:
        self.init(.refused, Self.cleaned(reply))
      }
    }

    /// Why a connection failed. SwiftNIO's own texts name its functions, and all addresses that were tried.
    static func reason(_ error: any Error) -> String {
      switch error {
      case let error as IOError: String(cString: strerror(error.errnoCode))
      case let error as NIOConnectionError:
        error.connectionErrors.last.map { reason($0.error) } ?? "the host name cannot be resolved"
      case ChannelError.connectTimeout: "no answer in time"
      default: "\(error)"
      }
    }

    /// Text from outside for a message: at most 200 characters of ASCII, none of them a control character.
    static func cleaned(_ text: some StringProtocol) -> String {
      String(
        decoding: text.utf8.prefix(200).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
        as: UTF8.self)
    }
  }
#endif

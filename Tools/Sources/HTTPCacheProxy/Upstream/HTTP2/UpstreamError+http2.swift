package import HTTPCaching
import NIOHPACK
import NIOHTTP2

extension UpstreamError {
  /// Whether the origin's HTTP/2 failed, so that HTTP/1.1 may work.
  package var isOfHTTP2: Bool { cause is any NIOHTTP2Error || cause is any NIOHPACKError }
}

import ArgumentParser
import HTTPCaching

/// The doors of the driver. The installed command lacks the doors over `URLSession`: they would make it need
/// libcurl and the forty libraries that libcurl loads.
enum DriveDoorName: String, ExpressibleByArgument, CaseIterable {
  case engine
  case asynchttpclient
  #if URLSessionDoors
    case urlsession
    case urlprotocol
  #endif

  /// Opens the door to a cache.
  func open(_ cache: HTTPCache) throws -> any DriveDoor {
    switch self {
    case .engine: try EngineDoor(cache)
    case .asynchttpclient: AsyncHTTPClientDoor(cache)
    #if URLSessionDoors
      case .urlsession: URLSessionDoor(cache)
      case .urlprotocol: URLProtocolDoor(cache)
    #endif
    }
  }
}

/// A way into the cache: turns a line of input into a request of a library, and the library's response into a
/// reply.
protocol DriveDoor: Sendable {
  /// Performs a request and reads its response to the end. Redirects are not followed.
  ///
  /// - Throws: `DriveRequest.Invalid` for a line that cannot be performed, `UpstreamError` if the
  ///   origin was asked and failed, and other errors of the library.
  func reply(to drive: DriveRequest) async throws -> DriveReply

  /// Closes connections, and writes batched counters.
  func close() async throws
}

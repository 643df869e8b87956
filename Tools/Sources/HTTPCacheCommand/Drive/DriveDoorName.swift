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

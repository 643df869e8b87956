import ArgumentParser
import HTTPCaching

/// The doors that the driver knows.
enum DriveDoorName: String, ExpressibleByArgument, CaseIterable {
  case engine
  case asynchttpclient
  case urlsession
  case urlprotocol

  /// Opens the door to a cache.
  func open(_ cache: HTTPCache) throws -> any DriveDoor {
    switch self {
    case .engine: try EngineDoor(cache)
    case .asynchttpclient: AsyncHTTPClientDoor(cache)
    case .urlsession: URLSessionDoor(cache)
    case .urlprotocol: URLProtocolDoor(cache)
    }
  }
}

#if URLSessionDoors
  import ArgumentParser

  /// The transport that sends the requests of the door `urlsession` to the origin.
  enum DriveTransport: String, ExpressibleByArgument, CaseIterable {
    case foundation
    case asynchttpclient
  }
#endif

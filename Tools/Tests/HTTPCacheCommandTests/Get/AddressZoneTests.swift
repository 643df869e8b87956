import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Zones of IPv6 addresses (RFC 6874)", .timeLimit(.minutes(10))) struct AddressZoneTests {
  @Test(
    "get connects to an address with a zone, also after a redirect, and Host has no zone",
    .enabled(if: loopbackZone != nil, "the loopback interface takes no address with a zone"))
  func connects() async throws {
    let zone = try #require(loopbackZone)
    let directory = try ScratchFolder()
    let origin = try await ScriptedOrigin(at: "::1") { request in
      guard request.line.contains(" /first ") else {
        return ScriptedOrigin.Answer(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8))
      }
      return ScriptedOrigin.Answer(head: "HTTP/1.1 302 Found\r\nLocation: /second\r\nContent-Length: 0")
    }
    let zoned = origin.authority.replacing("]", with: "%25\(zone)]")
    await CommandRun.success(
      "get", "http://\(zoned)/first", "--dir", directory.path("cache"), "-o", directory.path("out"))
    #expect(directory.file("out").bytes == Array("ok".utf8))
    #expect(origin.requests.map { $0.fields["host"] } == [origin.authority, origin.authority])
  }
}

/// The zone of the loopback interface; nil if the system takes no zone for `::1`. It is a number: the C library takes the
/// name of an interface for link-local addresses alone.
private let loopbackZone: UInt32? = {
  for name in ["lo", "lo0"] {
    let zone = if_nametoindex(name)
    var hints = addrinfo()
    hints.ai_family = AF_INET6
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard zone > 0, getaddrinfo("::1%\(zone)", "0", &hints, &found) == 0, let address = found?.pointee else {
      continue
    }
    defer { freeaddrinfo(found) }
    let descriptor = socket(AF_INET6, address.ai_socktype, 0)
    guard descriptor >= 0 else { continue }
    defer { close(descriptor) }
    if bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return zone }
  }
  return nil
}()

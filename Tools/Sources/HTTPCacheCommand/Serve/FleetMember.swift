import Foundation
import HTTPCacheLibC
import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCaching

/// A server as a node of a fleet.
struct FleetMember: CustomStringConvertible {
  /// How long a start waits for the log.
  private static let patience = Duration.seconds(5)
  /// How long an end waits until responses are published.
  private static let farewell = Duration.seconds(1)

  let fleet: FleetTier
  let options: FleetOptions
  /// Why the server could not be used when it was asked first; nil if it answered.
  let failure: SharedTierError?

  /// Gives a cache the tier.
  func apply(to configuration: inout HTTPCache.Configuration) {
    configuration.shared = fleet.tier
    configuration.fleet = options
  }

  /// Waits until a cache has applied what it missed. A server that did not answer is not waited for.
  func join(_ cache: HTTPCache) async {
    if failure == nil { await cache.join(within: Self.patience) }
  }

  /// Publishes the rest, keeps the position in the log, and closes a cache.
  func leave(_ cache: HTTPCache) async {
    await cache.finishBackgroundWork(within: Self.farewell)
    await cache.close()
  }

  /// The name of a node: that of the machine, the port, and a random part, because two nodes must not have one name.
  static func nodeName(port: Int) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    let isKnown = gethostname(&buffer, buffer.count - 1) == 0
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    // Only what reads well in tables.
    let host = String(decoding: bytes, as: UTF8.self).filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".")
    }
    let random = String(UInt32.random(in: 0...UInt32.max), radix: 36)
    let name = isKnown && !host.isEmpty ? String(host.prefix(64)) : "node"
    // The system chooses the port later.
    return port == 0 ? "\(name)-\(random)" : "\(name):\(port)-\(random)"
  }

  /// One line for the log of a start.
  var description: String {
    let place = "fleet \(fleet.name) at \(fleet.address)"
    guard let failure else { return "node \(options.nodeName) of \(place)" }
    return "\(place) cannot be used now (\(failure)); working alone until it can"
  }
}

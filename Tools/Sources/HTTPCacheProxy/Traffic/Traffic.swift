import NIOCore
import Synchronization

/// Counts the finished requests of a server. Each event loop counts in a part of its own, so that no loop waits for the
/// lock of another.
final class Traffic: Sendable {
  /// The counts of one event loop.
  final class Part: Sendable {
    fileprivate let series = Mutex<[TrafficSeries.Key: TrafficSeries]>([:])

    /// Adds a finished request.
    ///
    /// - Parameter bytes: the bytes of the body that were sent.
    func add(outcome: String, status: Int, bytes: Int64, microseconds: Int64) {
      series.withLock {
        $0[TrafficSeries.Key(outcome: outcome, status: status), default: TrafficSeries()]
          .add(bytes: bytes, microseconds: microseconds)
      }
    }
  }

  private let parts: [ObjectIdentifier: Part]
  private let other = Part()

  /// - Parameter loops: the event loops of the connections.
  init(loops: [any EventLoop]) {
    parts = Dictionary(loops.map { (ObjectIdentifier($0), Part()) }, uniquingKeysWith: { first, _ in first })
  }

  /// The part of an event loop.
  func part(of loop: any EventLoop) -> Part { parts[ObjectIdentifier(loop)] ?? other }

  /// The counts of all event loops.
  var series: [TrafficSeries.Key: TrafficSeries] {
    var all: [TrafficSeries.Key: TrafficSeries] = [:]
    for part in Array(parts.values) + [other] {
      for (key, series) in part.series.withLock({ $0 }) { all[key, default: TrafficSeries()].add(series) }
    }
    return all
  }
}

import NIOCore
import Synchronization

/// Counts the finished requests of a server. Each event loop counts in a part of its own, so that no loop waits for the
/// lock of another.
final class Traffic: Sendable {
  /// The counts of one event loop.
  final class Part: Sendable {
    fileprivate let series = Mutex<[TrafficSeries.Key: TrafficSeries]>([:])
    fileprivate let missed = Mutex(MissedTargets())

    /// Adds a finished request.
    func add(_ entry: AccessLog.Entry) {
      series.withLock {
        $0[TrafficSeries.Key(outcome: entry.outcome, status: entry.status), default: TrafficSeries()]
          .add(bytes: entry.bytes, microseconds: entry.microseconds)
      }
      if MissedTargets.counts(entry.outcome) { missed.withLock { $0.add(entry) } }
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

  /// The sum of all outcomes and statuses.
  var totals: TrafficTotals {
    var totals = TrafficTotals()
    for (key, series) in series { totals.add(series, key) }
    return totals
  }

  /// The most missed targets of all event loops, most requests first.
  var missedTargets: [MissedTarget] {
    var all: [String: MissedTarget] = [:]
    for part in Array(parts.values) + [other] {
      for target in part.missed.withLock({ $0.targets }) {
        all[target.target, default: MissedTarget(target: target.target)].add(target)
      }
    }
    return all.values.sorted { ($1.count, $0.target) < ($0.count, $1.target) }
  }
}

import Foundation
import HTTPCacheStore
import HTTPCaching

/// Adds changes to the log of a fleet, without being one of its nodes, and waits until the nodes have applied them.
struct FleetPurge {
  /// The nodes at the end of the wait.
  struct Progress {
    /// The names of the nodes that have applied all changes.
    var applied: [String]
    /// The names of the nodes that have not applied all of them yet.
    var pending: [String]
  }

  let tier: any SharedTier
  let kind: SharedChange.Kind
  let selections: [CacheSelection]

  /// Adds the changes.
  ///
  /// - Parameter limit: how long to wait for the nodes.
  /// - Throws: `SharedTierError` if a change may not be in the log, or the server does not tell the nodes.
  func run(within limit: Duration) async throws(SharedTierError) -> Progress {
    var last = SharedPosition.start
    for selection in selections {
      // One uid for all attempts: nodes apply the change once.
      let change = SharedChange(uid: UUID().uuidString, kind: kind, selection: selection)
      let position = try await FleetQuestion.answer { () async throws(SharedTierError) in
        try await tier.add(change, at: nil)
      }
      last = max(last, position)
      if kind == .wipe, case .partition(let mode, let partition) = selection {
        try await FleetQuestion.answer { () async throws(SharedTierError) in
          try await tier.wipe(mode: mode, partition: partition)
        }
      }
    }
    return try await progress(to: last, within: limit)
  }

  private func progress(
    to position: SharedPosition, within limit: Duration
  ) async throws(SharedTierError) -> Progress {
    let end = ContinuousClock.now + limit
    while true {
      let nodes = try await FleetQuestion.answer { () async throws(SharedTierError) in try await tier.nodes()
      }
      let progress = Progress(
        applied: nodes.filter { $0.applied >= position }.map(\.name),
        pending: nodes.filter { $0.applied < position }.map(\.name))
      guard !progress.pending.isEmpty, ContinuousClock.now < end else { return progress }
      do { try await Task.sleep(for: .milliseconds(50)) } catch { return progress }
    }
  }
}

import HTTPCacheSemantics
import HTTPCacheStore

/// Changes that come from other nodes of a fleet. They reach running requests as own changes do.
extension Shelf {
  /// Makes a change in the local store.
  ///
  /// - Parameters:
  ///   - kind: the kind of the change.
  ///   - selections: the `localSelections` of the change.
  func apply(_ kind: SharedChange.Kind, _ selections: [CacheSelection]) async {
    for selection in selections {
      switch kind {
      case .remove: await removeLocally(selection)
      case .invalidate: await invalidateLocally(selection)
      case .expire: await expireLocally(selection)
      case .wipe: await wipeLocally(selection)
      }
    }
  }

  /// Invalidates all entries of this node, because changes of other nodes may be unknown.
  func invalidateAll(because gap: FleetGap) async {
    observers.tell(.fleet(.invalidatedAll(gap)))
    await invalidateLocally(.all)
  }

  /// Stores the response of each running request as invalidated, because changes of other nodes may have overtaken it.
  /// For a store that has no entries; seeds stay as they are.
  func overtakeRunningRequests() async {
    do throws(CacheError) { _ = try await ownStore.invalidate(.all) } catch {
      failed(to: "invalidate", .all, removes: false, error)
    }
  }

  /// The selections of this node for a change of another one, which may know fewer names of a target.
  func localSelections(_ selection: CacheSelection) async -> [CacheSelection] {
    guard case .target(let target) = selection else { return [selection] }
    if rules.obeysNoVarySearch { forgetFlights(ofPath: target) }
    do throws(CacheError) {
      return try await selections(ofTarget: target, asksForOtherNames: true)
    } catch {
      // The other names of the target are unknown: any target of its origin may be one.
      observers.tell(.storeFailed(operation: "invalidate", error))
      return [.prefix((TargetURI.origin(of: target) ?? target) + "/")]
    }
  }

  private func wipeLocally(_ selection: CacheSelection) async {
    guard case .partition(let mode, let partition) = selection else { return await removeLocally(selection) }
    do throws(CacheError) {
      _ = try await wipe(mode: mode, partition: partition, in: localStore)
    } catch {
      // `wipe` has told the observer.
      failedChanges.insert(selection, removes: true, at: configuration.clock.now)
    }
  }

  private func removeLocally(_ selection: CacheSelection) async {
    do throws(CacheError) {
      let count = try await localStore.remove(selection)
      observers.tell(.selectionRemoved(selection, count: count))
    } catch {
      failed(to: "remove", selection, removes: true, error)
    }
  }

  private func expireLocally(_ selection: CacheSelection) async {
    await markLocally("expire", selection) { () async throws(CacheError) in
      try await localStore.expire(selection)
    }
  }

  private func invalidateLocally(_ selection: CacheSelection) async {
    await markLocally("invalidate", selection) { () async throws(CacheError) in
      try await localStore.invalidate(selection)
    }
  }

  private func markLocally(
    _ operation: String, _ selection: CacheSelection, by change: () async throws(CacheError) -> Int?
  ) async {
    do throws(CacheError) {
      let count = try await change()
      observers.tell(.selectionInvalidated(selection, count: count))
    } catch {
      failed(to: operation, selection, removes: false, error)
    }
  }
}

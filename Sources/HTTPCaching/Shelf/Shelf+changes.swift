import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Removing and invalidating.
///
/// A change covers running requests, too: if it may match a response whose request was sent before, this response is
/// stored as invalidated, whichever process sent the request.
extension Shelf {
  // MARK: What a caller asks for

  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` with `invalidRequest` for a selection without an absolute URL; what the store throws.
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    var count = 0
    for selection in try await resolved(selection) { count += try await store.remove(selection) }
    observers.tell(.selectionRemoved(selection, count: count))
    return count
  }

  /// - Returns: the number of responses that match; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  func mark(_ selection: CacheSelection, as mark: StoredResponse.Mark) async throws(CacheError) -> Int? {
    var count: Int? = 0
    for selection in try await resolved(selection) {
      guard let marked = try await store.mark(selection, as: mark) else {
        count = nil
        continue
      }
      count = count.map { $0 + marked }
    }
    tell(selection, markedAs: mark, count: count)
    return count
  }

  private func tell(_ selection: CacheSelection, markedAs mark: StoredResponse.Mark, count: Int?) {
    observers.tell(
      mark == .expired
        ? .selectionExpired(selection, count: count) : .selectionInvalidated(selection, count: count))
  }

  /// Translates a caller's selection into selections of the store.
  private func resolved(_ selection: CacheSelection) async throws(CacheError) -> [CacheSelection] {
    func origin(_ url: String) throws(CacheError) -> String {
      guard let origin = TargetURI.origin(of: url) else {
        throw CacheError(.invalidRequest, "not an origin: \(url)")
      }
      return origin
    }
    let checked = try selection.checked()
    switch checked {
    // Another process may have other rules than this one.
    case .target(let target): return try await selections(ofTarget: target, asksForOtherNames: true)
    case .group(let url, let name): return [.group(origin: try origin(url), name: name)]
    case .site(let url, let mode, let partition):
      return [.site(origin: try origin(url), mode: mode, partition: partition)]
    case .prefix, .all, .partition, .key, .variant, .storedSince, .storedBefore, .unusedSince:
      return [checked]
    }
  }

  /// The selections that a change of a target covers.
  ///
  /// - Parameters:
  ///   - target: the normalised target.
  ///   - asksForOtherNames: whether to look up other names of the target in the store.
  func selections(
    ofTarget target: String, asksForOtherNames: Bool
  ) async throws(CacheError) -> [CacheSelection] {
    guard let keys = rules.keyTargets(of: target) else {
      // Overrides can give the target any key of its origin.
      return [Self.origin(of: target)]
    }
    guard asksForOtherNames else { return keys.map { .target($0) } }
    var names: [String] = []
    for key in keys {
      for name in [key] + (try await store.targets(equivalentTo: key)) where !names.contains(name) {
        names.append(name)
      }
    }
    return names.map { .target($0) }
  }

  // MARK: What a response demands

  /// Invalidates what an unsafe request changed (RFC 9111 §4.4).
  func invalidate(_ targets: [String]) async {
    for target in targets {
      let asksForOtherNames = rules.obeysNoVarySearch || rules.hasAliases
      for selection in await selectionsCovering(target, asksForOtherNames: asksForOtherNames) {
        var name = target
        if case .target(let other) = selection { name = other }
        await invalidate(selection, telling: name)
      }
    }
  }

  /// The selections that a change of a target covers, at least. Ends the flights of requests for its other names.
  private func selectionsCovering(_ target: String, asksForOtherNames: Bool) async -> [CacheSelection] {
    if rules.obeysNoVarySearch { forgetFlights(ofPath: target) }
    do throws(CacheError) {
      return try await selections(ofTarget: target, asksForOtherNames: asksForOtherNames)
    } catch {
      // The other names of the target are unknown: any target of its origin may be one.
      observers.tell(.storeFailed(operation: "invalidate", error))
      return [Self.origin(of: target)]
    }
  }

  /// The selection of all targets of the origin of a target.
  private static func origin(of target: String) -> CacheSelection {
    .prefix((TargetURI.origin(of: target) ?? target) + "/")
  }

  /// Invalidates groups of an origin that a response names (RFC 9875 §3).
  func invalidate(groups: [String], of target: String) async {
    guard !groups.isEmpty, let origin = TargetURI.origin(of: target) else { return }
    for name in groups {
      await invalidate(.group(origin: origin, name: name), telling: "\(origin) group \(name)")
    }
  }

  /// A response that is arriving must be validated before its next use: marks what is stored for its key, too.
  func overtake(_ key: CacheKey) async { await invalidate(.key(key), telling: key.target) }

  /// - Returns: why the store failed to make the change, which is then tried again; nil if it did not fail.
  @discardableResult
  private func invalidate(_ selection: CacheSelection, telling target: String) async -> CacheError? {
    do throws(CacheError) {
      _ = try await store.invalidate(selection)
      observers.tell(.invalidated(target: target))
      return nil
    } catch {
      failed(to: "invalidate", selection, removes: false, error)
      return error
    }
  }

  /// Removes the stored responses of the origin of a key in its partition (W3C Clear Site Data).
  func clearSite(of key: CacheKey) async {
    guard let origin = TargetURI.origin(of: key.target) else { return }
    let site = CacheSelection.site(origin: origin, mode: key.mode, partition: key.partition)
    guard await remove(site, from: store, operation: "clear") != nil else { return }
    observers.tell(.siteCleared(origin: origin, partition: key.partition))
  }

  /// Removes a response.
  func discard(_ record: CacheRecord, operation: String = "remove") async {
    await remove(.variant(record.key, sequence: record.sequence), from: store, operation: operation)
  }

  /// Invalidates a response.
  ///
  /// - Throws: what the store throws; the change is then tried again.
  func invalidate(_ record: CacheRecord) async throws(CacheError) {
    let selection = CacheSelection.variant(record.key, sequence: record.sequence)
    if let error = await invalidate(selection, telling: record.key.target) { throw error }
  }

  /// Removes all responses to a key: each variant in each form, under each name. Tells the observer of each key whose
  /// responses were removed.
  ///
  /// - Parameter names: the keys under which there is a response.
  func removeAll(of key: CacheKey, storedUnder names: Set<CacheKey>, because reason: RemovalReason) async {
    // Also for a key without a stored response: a transfer may be storing one.
    for name in names.union([key]) {
      let count = await remove(.key(name), from: store, operation: "remove")
      if count != nil, names.contains(name) { observers.tell(.removed(name, reason)) }
    }
  }

  // MARK: Failed changes

  /// Removes responses, or remembers that the store failed to remove them.
  ///
  /// - Parameter operation: what fails if the store does, for the observer.
  /// - Returns: the number of responses removed; nil if the store failed.
  @discardableResult
  private func remove(
    _ selection: CacheSelection, from store: any CacheStore, operation: String
  ) async -> Int? {
    do throws(CacheError) { return try await store.remove(selection) } catch {
      failed(to: operation, selection, removes: true, error)
      return nil
    }
  }

  /// The store failed to invalidate or to remove: tells the observer, and remembers the change, so that the
  /// responses that it selects are not reused without validation (RFC 9111 §4.4).
  func failed(
    to operation: String, _ selection: CacheSelection, removes: Bool, _ error: CacheError
  ) {
    failedChanges.insert(selection, removes: removes, at: configuration.clock.now)
    observers.tell(.storeFailed(operation: operation, error))
  }

  /// Retries failed changes, at most once a second; called before a request reads or changes the store. Other nodes
  /// were told of them when they failed.
  func retryFailedChanges() async {
    let changes = failedChanges.beginRetry(uptime: configuration.clock.uptime)
    if changes.isEmpty { return }
    var done: [FailedChanges.Change] = []
    do throws(CacheError) {
      for change in changes {
        if change.removes {
          let count = try await localStore.remove(change.selection)
          observers.tell(.selectionRemoved(change.selection, count: count))
        } else {
          let count = try await localStore.invalidate(change.selection)
          observers.tell(.selectionInvalidated(change.selection, count: count))
        }
        done.append(change)
      }
    } catch {
      observers.tell(.storeFailed(operation: "invalidate again", error))
    }
    failedChanges.endRetry(done: done, uptime: configuration.clock.uptime)
  }
}

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
      case .invalidate: await markLocally(selection, as: .invalidated)
      case .expire: await markLocally(selection, as: .expired)
      case .wipe: await wipeLocally(selection)
      }
    }
  }

  /// Invalidates all entries of this node, because changes of other nodes may be unknown.
  func invalidateAll(because gap: FleetGap) async {
    observers.tell(.fleet(.invalidatedAll(gap)))
    await markLocally(.all, as: .invalidated)
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
    return await selectionsCovering(target, asksForOtherNames: true)
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
    guard let count = await remove(selection, from: localStore, operation: "remove") else { return }
    observers.tell(.selectionRemoved(selection, count: count))
  }

  private func markLocally(_ selection: CacheSelection, as mark: StoredResponse.Mark) async {
    do throws(CacheError) {
      tell(selection, markedAs: mark, count: try await localStore.mark(selection, as: mark))
    } catch {
      failed(to: mark == .expired ? "expire" : "invalidate", selection, removes: false, error)
    }
  }
}

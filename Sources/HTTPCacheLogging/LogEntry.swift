#if Logging
  import HTTPCacheSemantics
  import HTTPCaching
  import Logging

  /// An event as a message and metadata.
  struct LogEntry {
    private(set) var message: String
    private(set) var metadata: Logger.Metadata
    private let showsQueries: Bool

    init(_ event: CacheEvent, showsQueries: Bool) {
      self.showsQueries = showsQueries
      message = ""
      metadata = [:]
      switch event {
      case .answered(let target, let outcome):
        name("answered", "answered", target: target)
        // Without the name of a cache, which the log does not need.
        let text = CacheStatus(outcome: outcome, name: "cache").fieldValue
        metadata["cache.status"] = "\(text.dropFirst("cache; ".count))"
      case .stored(let key, let bytes):
        name("stored", "stored")
        add(key, bytes)
      case .kept(let key, let bytes):
        name("kept", "kept the beginning")
        add(key, bytes)
      case .notStored(let target, let refusal):
        name("not-stored", "not stored", target: target, reason: refusal)
      case .hookFailed(let target, let failure):
        name("hook-failed", "the hook gave no decision", target: target, reason: failure)
      case .removed(let key, let reason):
        name("removed", "removed", reason: reason)
        add(key)
      case .notAsked(let target, let reason):
        name("not-asked", "the origin was not asked", target: target, reason: reason)
      case .freshened(let key):
        name("freshened", "freshened")
        add(key)
      case .invalidated(let target): name("invalidated", "invalidated", target: target)
      case .selectionRemoved(let selection, let count):
        name("selection-removed", "removed", target: selection.text, count: count)
      case .selectionInvalidated(let selection, let count):
        name("selection-invalidated", "invalidated", target: selection.text, count: count)
      case .selectionExpired(let selection, let count):
        name("selection-expired", "expired", target: selection.text, count: count)
      case .siteCleared(let origin, let partition):
        name("site-cleared", "cleared a site", target: origin, partition: partition)
      case .wiped(let partition, let count):
        name("wiped", "wiped a partition", count: count, partition: partition)
      case .upstreamFailed(let target, let error):
        name("upstream-failed", "the origin failed", target: target, reason: error.kind.rawValue)
        metadata["cache.error"] = "\(error.message)"
      case .validatingInBackground(let key):
        name("validating-in-background", "validating in the background")
        add(key)
      case .encryption(let notice):
        name("encryption", "the directory was looked at for encryption", reason: notice)
      case .capacityChanged(let old, let new, let usage):
        name("capacity-changed", "the capacity of the directory changed")
        metadata["cache.bytes"] = "\(new)"
        metadata["cache.previous"] = "\(old)"
        metadata["cache.usage"] = "\(usage)"
      case .fleet(let event): add(event)
      case .storeFailed(let operation, let error):
        name("store-failed", "the store failed", reason: error.code)
        if let key = error.key { add(key) }
        metadata["cache.operation"] = "\(operation)"
        metadata["cache.error"] = "\(error.message)"
      }
    }

    private mutating func add(_ event: FleetEvent) {
      switch event {
      case .connected(let restored): name("fleet-connected", "connected with the fleet", count: restored)
      case .disconnected(let error):
        name("fleet-disconnected", "disconnected from the fleet")
        add(error)
      case .applied(let change):
        name("fleet-applied", "applied another node's change", target: change.selection.text)
        metadata["cache.operation"] = "\(change.kind.rawValue)"
      case .invalidatedAll(let gap):
        name("fleet-invalidated-all", "invalidated all entries", reason: gap)
      case .published(let key, let bytes):
        name("fleet-published", "published")
        add(key, bytes)
      case .notPublished(let key, let error):
        name("fleet-not-published", "not published")
        add(key)
        add(error)
      case .failed(let operation, let error):
        name("fleet-failed", "the tier failed")
        metadata["cache.operation"] = "\(operation)"
        add(error)
      }
    }

    private mutating func add(_ error: SharedTierError) {
      metadata["cache.reason"] = "\(error.kind.rawValue)"
      metadata["cache.error"] = "\(error.message)"
    }

    private mutating func name(
      _ event: String, _ message: String, target: String? = nil, reason: Any? = nil, count: Int? = nil,
      partition: String = ""
    ) {
      self.message = message
      metadata["cache.event"] = "\(event)"
      if let target { add(target: target) }
      if let reason { metadata["cache.reason"] = "\(reason)" }
      if let count { metadata["cache.count"] = "\(count)" }
      add(partition: partition)
    }

    private mutating func add(_ key: CacheKey, _ bytes: Int64? = nil) {
      add(target: key.target)
      add(partition: key.partition)
      if let bytes { metadata["cache.bytes"] = "\(bytes)" }
    }

    private mutating func add(target: String) {
      metadata["cache.target"] = "\(showsQueries ? target[...] : target.prefix { $0 != "?" })"
    }

    private mutating func add(partition: String) {
      if !partition.isEmpty { metadata["cache.partition"] = "\(partition)" }
    }
  }
#endif

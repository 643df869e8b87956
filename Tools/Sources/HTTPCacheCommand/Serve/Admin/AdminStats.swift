import HTTPCaching

/// The counts over the life of the directory and the usage now, as JSON.
struct AdminStats: Encodable {
  var hits: Int64
  var validated: Int64
  var misses: Int64
  var stores: Int64
  var evictions: Int64
  var hitBytes: Int64
  var originBytes: Int64
  var memoryBytes: Int64
  var memoryCapacity: Int64
  var memoryEntries: Int
  var diskBytes: Int64
  var diskCapacity: Int64
  var diskEntries: Int
  var connections: Int
  /// Nil without a fleet.
  var fleet: AdminFleet?

  init(_ counts: CacheCounts, usage: StoreUsage, connections: Int, fleet: AdminFleet?) {
    hits = counts.hits
    validated = counts.validated
    misses = counts.misses
    stores = counts.stores
    evictions = counts.evictions
    hitBytes = counts.hitBytes
    originBytes = counts.originBytes
    memoryBytes = usage.memoryBytes
    memoryCapacity = usage.memoryCapacity
    memoryEntries = usage.memoryEntries
    diskBytes = usage.diskBytes
    diskCapacity = usage.diskCapacity
    diskEntries = usage.diskEntries
    self.connections = connections
    self.fleet = fleet
  }
}

/// A page of the stored entries as JSON.
struct AdminEntries: Encodable {
  var entries: [EntryJSON]
  /// The parameter `after` of the next page; nil at the end.
  var next: String?
}

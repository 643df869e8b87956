import HTTPCacheProxy
import HTTPCacheRedis
import HTTPCaching

/// The nodes of a fleet and its server, as `httpcache fleet` shows them.
struct FleetReport: Encodable {
  /// A node.
  struct Node: Encodable {
    var name: String
    /// The last change that the node has applied, as the server names it.
    var position: String
    /// The time between the last change of the log and the last one that the node has applied, by the server's clock; nil
    /// if the node has applied none.
    var behindMilliseconds: UInt64?
  }

  /// The memory of the server that keeps the log.
  struct Memory: Encodable {
    var usedBytes: Int64
    /// The limit; 0 is none.
    var limitBytes: Int64
    /// How many keys were evicted to stay within the limit.
    var evictions: Int64
  }

  var server: String
  var name: String
  var nodes: [Node]
  /// The changes that the log still has.
  var changes: Int
  /// How long the server took to tell the nodes.
  var answerMilliseconds: Double
  /// Nil if the server does not tell.
  var memory: Memory?

  /// Asks the server.
  ///
  /// - Throws: `SharedTierError`.
  init(of fleet: FleetTier) async throws(SharedTierError) {
    let tier = fleet.tier
    server = fleet.address
    name = fleet.name
    let log = try await FleetQuestion.answer { () async throws(SharedTierError) in try await tier.logLength()
    }
    let start = ContinuousClock.now
    let found = try await FleetQuestion.answer { () async throws(SharedTierError) in try await tier.nodes() }
    answerMilliseconds = HumanText.milliseconds(ContinuousClock.now - start)
    changes = log.changes
    nodes = found.map { node in
      let behind: UInt64? =
        if log.last <= node.applied { 0 } else if node.applied == .start { nil } else {
          log.last.time - node.applied.time
        }
      return Node(name: node.name, position: "\(node.applied)", behindMilliseconds: behind)
    }
    // A user without the permission does not learn of the memory, and of all the rest.
    let told = try? await FleetQuestion.answer { () async throws(SharedTierError) in try await tier.memory() }
    if let told {
      memory = Memory(usedBytes: told.used, limitBytes: told.limit, evictions: told.evictions)
    }
  }

  /// Lines for people.
  var lines: [String] {
    var lines = ["fleet \(name) at \(server)"]
    let answer = HumanText.duration(.seconds(answerMilliseconds / 1_000))
    lines.append("answers in \(answer), \(HumanText.count(changes, "change")) in the log")
    if let memory {
      let limit = memory.limitBytes == 0 ? "without a limit" : "of \(HumanText.bytes(memory.limitBytes))"
      lines.append(
        "memory \(HumanText.bytes(memory.usedBytes)) \(limit), \(HumanText.count(Int(clamping: memory.evictions), "eviction"))"
      )
    } else {
      lines.append("memory unknown: the server does not tell (permission +info)")
    }
    guard !nodes.isEmpty else { return lines + ["no node told of itself in the last 10 seconds"] }
    var table = TextTable(["node", "position", "behind"], [.leading, .leading, .trailing])
    for node in nodes {
      table.add([
        node.name.printableInLine, node.position,
        node.behindMilliseconds.map { HumanText.duration(.milliseconds($0)) } ?? "all changes",
      ])
    }
    return lines + [""] + table.lines
  }
}

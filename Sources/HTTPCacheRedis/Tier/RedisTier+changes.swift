#if Redis
  import HTTPCacheSemantics
  import HTTPCacheStore
  public import HTTPCaching

  extension RedisTier {
    /// The number of changes that the log keeps, and some more: the server cuts it in blocks.
    static let longestLog = 10_000
    /// The most changes of one reply.
    private static let pageLength = 500
    /// The most entries that are read of a log, which no server keeps.
    private static let mostEntries = 2 * longestLog
    /// The nodes that told of themselves within this time are listed.
    private static let silence: Int64 = 10_000
    /// The number of names of nodes above which those are removed that are silent for an hour.
    private static let mostNodes: Int64 = 64
    private static let forgotten: Int64 = 3_600_000

    /// Adds a change to the log; one with a long selection as a change that covers more (`SharedChange.loggable`). A server
    /// without free memory takes it, too.
    public func add(
      _ change: SharedChange, at position: SharedPosition?
    ) async throws(SharedTierError) -> SharedPosition {
      let change = change.loggable
      let selection: [UInt8]
      do throws(CacheError) {
        selection = try seal.seal(
          SelectionCodec.encode(change.selection), at: .change(uid: change.uid, kind: change.kind.rawValue))
      } catch {
        throw SharedTierError(.refused, "the change cannot be encrypted: \(error)")
      }
      var arguments: [RedisArgument] = [
        .text(change.uid), .text(change.kind.rawValue), .bytes(selection),
        .text(position?.description ?? "*"),
        .number(Self.longestLog),
      ]
      for number in change.scopeClasses { arguments.append(.number(number)) }
      let reply = try await run(
        RedisScripts.change, [keys.table, keys.log], arguments, by: RedisDeadline(limits.change))
      guard let added = SharedPosition(reply.text) else { throw Self.unexpected("the position of a change") }
      return added
    }

    /// The next changes of the log, over the connection that `state()` made.
    public func changes(
      after position: SharedPosition, waitingFor wait: Duration, limit: Int
    ) async throws(SharedTierError) -> SharedChanges {
      var all = try await next(after: position, waitingFor: wait, limit: min(Self.pageLength, limit))
      var last = all
      while last.entries.count == Self.pageLength, all.entries.count < limit, let end = last.entries.last {
        let rest = min(Self.pageLength, limit - all.entries.count)
        last = try await next(after: end.position, waitingFor: .zero, limit: rest)
        all = SharedChanges(entries: all.entries + last.entries, nonce: last.nonce)
      }
      return all
    }

    /// The changes of one reply.
    private func next(
      after position: SharedPosition, waitingFor wait: Duration, limit: Int
    ) async throws(SharedTierError) -> SharedChanges {
      let waiting: RedisCommand = wait > .zero ? ["BLOCK", .number(Self.milliseconds(wait))] : []
      let read: RedisCommand = ["XREAD", "COUNT", .number(max(1, limit))] + waiting
      let streams: RedisCommand = ["STREAMS", .bytes(keys.log), .text(position.description)]
      let replies = try await send(
        [["HGET", .bytes(keys.table), "last"], read + streams, ["HGET", .bytes(keys.table), "nonce"]],
        for: keys.log, on: .log, by: RedisDeadline(max(wait, .zero) + limits.change))
      var entries: [SharedLogEntry] = []
      if let streams = replies[1].elements {
        guard let stream = streams.first?.elements, stream.count == 2 else {
          throw Self.unexpected("the changes")
        }
        entries = try log(stream[1])
      }
      // The log is lost if it lacks a change that the table has.
      let isLost = entries.isEmpty && SharedPosition(replies[0].text) ?? .start > position
      return SharedChanges(entries: entries, nonce: isLost ? "" : replies[2].text ?? "")
    }

    /// All that the log still has. A log that was lost begins with an invalidation of everything. If the table was lost, no
    /// response is used that was published before.
    public func state() async throws(SharedTierError) -> SharedState {
      let state = try await read()
      guard state.last > state.state.log.last?.position ?? .start else { return state.state }
      // The table knows of changes that the log lost: nodes that have not read them invalidate everything.
      let uid = "lost-log-\(RedisRecord.text(ofBody: .random(in: .min ... .max)))"
      _ = try await add(SharedChange(uid: uid, kind: .invalidate, selection: .all), at: nil)
      return try await read().state
    }

    private func read() async throws(SharedTierError) -> (state: SharedState, last: SharedPosition) {
      // The table first: it has no position then that the log does not have yet. Changes that come between the commands
      // are in the log.
      let replies = try await send(
        [["HGETALL", .bytes(keys.table)]] + page(from: "-"), for: keys.log, on: .newLog,
        by: RedisDeadline(limits.state))
      guard let table = replies[0].fields else { throw Self.unexpected("the table") }
      let read = Self.read(table)
      var (scopes, nonce) = (read.scopes, read.nonce)
      let (entries, isCut) = try await log(beginningWith: Array(replies.dropFirst()))
      if nonce.isEmpty {
        let made = try await makeNonce()
        nonce = made.nonce
        scopes[0] = max(scopes[0] ?? .start, made.everything)
      }
      return (SharedState(nonce: nonce, log: entries, isCut: isCut, scopes: scopes), read.last)
    }

    /// Commands that read changes of the log.
    ///
    /// - Parameter start: the first position, as `XRANGE` has it.
    private func page(from start: RedisArgument) -> [RedisCommand] {
      [
        ["XRANGE", .bytes(keys.log), start, "+", "COUNT", .number(Self.pageLength)],
        ["XINFO", "STREAM", .bytes(keys.log)],
      ]
    }

    /// Reads the log, page by page: a long log is more than one reply may be, and may take longer than one may take.
    ///
    /// - Parameter first: the replies to the first page.
    private func log(
      beginningWith first: [RESPValue]
    ) async throws(SharedTierError) -> (entries: [SharedLogEntry], isCut: Bool) {
      var replies = first
      var entries = try log(replies[0])
      var count = entries.count
      while count == Self.pageLength, let end = entries.last {
        guard entries.count < Self.mostEntries else { throw Self.unexpected("the length of the log") }
        replies = try await send(
          page(from: .text("(\(end.position)")), for: keys.log, on: .log,
          by: RedisDeadline(limits.state))
        let next = try log(replies[0])
        count = next.count
        entries += next
      }
      return (entries, Self.isCut(replies[1], length: entries.count))
    }

    /// The positions of scopes, the random word, and the last position of a table.
    private static func read(
      _ table: [String: RESPValue]
    ) -> (scopes: [Int: SharedPosition], nonce: String, last: SharedPosition) {
      var scopes: [Int: SharedPosition] = [:]
      for (field, value) in table {
        guard field.hasPrefix("i"), let number = Int(field.dropFirst()),
          (0..<SharedScopes.classCount).contains(number), let position = SharedPosition(value.text)
        else { continue }
        scopes[number] = position
      }
      return (scopes, table["nonce"]?.text ?? "", SharedPosition(table["last"]?.text) ?? .start)
    }

    /// The random word of the table, which is made if there is none, and the position of the class of everything, which is
    /// raised then.
    private func makeNonce() async throws(SharedTierError) -> (nonce: String, everything: SharedPosition) {
      let nonce = RedisRecord.text(ofBody: .random(in: 1 ... .max))
      let reply = try await run(
        RedisScripts.nonce, [keys.table], [.text(nonce)], on: .log, by: RedisDeadline(limits.state))
      guard let made = reply.elements, made.count == 2, let word = made[0].text,
        let everything = SharedPosition(made[1].text)
      else { throw Self.unexpected("the random word") }
      return (word, everything)
    }

    /// Whether a log of `length` entries once had others before them; also if the server does not tell.
    private static func isCut(_ info: RESPValue, length: Int) -> Bool {
      // There is no log.
      if case .error = info { return length > 0 }
      return info.fields?["entries-added"]?.number.map { $0 > Int64(length) } ?? true
    }

    private func log(_ reply: RESPValue) throws(SharedTierError) -> [SharedLogEntry] {
      guard let entries = reply.elements else { throw Self.unexpected("the log") }
      var log: [SharedLogEntry] = []
      for entry in entries {
        guard let parts = entry.elements, parts.count == 2, let position = SharedPosition(parts[0].text)
        else {
          throw Self.unexpected("an entry of the log")
        }
        log.append(SharedLogEntry(position: position, change: change(parts[1].fields ?? [:])))
      }
      return log
    }

    /// Nil for a change of another version, or of a node with another key.
    private func change(_ fields: [String: RESPValue]) -> SharedChange? {
      guard let uid = fields["u"]?.text,
        let kind = fields["k"]?.text.flatMap({ SharedChange.Kind(rawValue: $0) }),
        let sealed = fields["s"]?.bytes,
        let bytes = try? seal.open(sealed, at: .change(uid: uid, kind: kind.rawValue)),
        let selection = SelectionCodec.decode(bytes)
      else { return nil }
      return SharedChange(uid: uid, kind: kind, selection: selection)
    }

    // MARK: Nodes

    /// Tells how far a node has applied the log.
    public func report(_ node: SharedNode) async throws(SharedTierError) {
      let deadline = RedisDeadline(limits.change)
      let reply = try await run(
        RedisScripts.report, [keys.nodes], [.text(node.name), .text(node.applied.description)], by: deadline)
      if let count = reply.number, count > Self.mostNodes { try await forgetNodes(by: deadline) }
    }

    /// The nodes that told of themselves in the last 10 s, by name.
    public func nodes() async throws(SharedTierError) -> [SharedNode] {
      let (now, nodes) = try await allNodes(by: RedisDeadline(limits.change))
      // After a failover, the clock of the server may be behind the time that a node told of itself.
      let recent = nodes.filter { now.saturatingSubtract($0.seen).magnitude <= UInt64(Self.silence) }
      return recent.sorted { $0.name < $1.name }
    }

    /// Forgets a node.
    public func leave(nodeName name: String) async throws(SharedTierError) {
      _ = try await send(
        [["HDEL", .bytes(keys.nodes), .text(name)]], for: keys.nodes, by: RedisDeadline(limits.change))
    }

    private func allNodes(by deadline: RedisDeadline) async throws(SharedTierError) -> (Int64, [SharedNode]) {
      let replies = try await send(
        [["TIME"], ["HGETALL", .bytes(keys.nodes)]], for: keys.nodes, by: deadline)
      guard let fields = replies[1].fields else { throw Self.unexpected("the nodes") }
      let nodes: [SharedNode] = fields.compactMap { name, value in
        guard let value = value.text, let bar = value.lastIndex(of: "|"),
          let applied = SharedPosition(String(value[..<bar])),
          let seen = Int64(value[value.index(after: bar)...])
        else { return nil }
        return SharedNode(name: name, applied: applied, seen: seen)
      }
      return (try Self.time(replies[0]), nodes)
    }

    private func forgetNodes(by deadline: RedisDeadline) async throws(SharedTierError) {
      let (now, nodes) = try await allNodes(by: deadline)
      let names = nodes.filter { $0.seen < now - Self.forgotten }.map { RedisArgument.text($0.name) }
      guard !names.isEmpty else { return }
      _ = try await send([["HDEL", .bytes(keys.nodes)] + names], for: keys.nodes, by: deadline)
    }
  }

  extension SharedChange {
    /// The longest encoded selection in the log, in bytes: 10,000 of them are less than one reply may be.
    private static let longestSelection = 2_048

    /// The change in the length that the log keeps. A long selection is replaced by one that covers it: that of all
    /// targets of its origin, or of everything.
    var loggable: SharedChange {
      guard Self.isLong(selection) else { return self }
      let wider = Self.origin(of: selection).map { CacheSelection.prefix($0 + "/") } ?? .all
      return SharedChange(uid: uid, kind: kind, selection: Self.isLong(wider) ? .all : wider)
    }

    private static func isLong(_ selection: CacheSelection) -> Bool {
      SelectionCodec.encode(selection).count > longestSelection
    }

    /// The origin that has all that a selection covers; nil if there is more than one.
    private static func origin(of selection: CacheSelection) -> String? {
      switch selection {
      case .key(let key), .variant(let key, _): TargetURI.origin(of: key.target)
      case .target(let text), .site(let text, _, _), .group(let text, _): TargetURI.origin(of: text)
      // A prefix that ends in a host is that of other hosts, too.
      case .prefix(let text): TargetURI.origin(of: text).flatMap { text.hasPrefix($0 + "/") ? $0 : nil }
      case .all, .partition, .storedSince, .unusedSince, .storedBefore: nil
      }
    }
  }
#endif

import HTTPCaching

/// The downloads of a queue, their order and their counts, without I/O.
struct QueueState: Sendable {
  /// The place of a download among those that may start.
  struct Turn: Comparable, Sendable {
    let priority: Int
    let position: Int64
    let id: DownloadID

    static func < (lhs: Turn, rhs: Turn) -> Bool {
      if lhs.priority != rhs.priority { return lhs.priority > rhs.priority }
      if lhs.position != rhs.position { return lhs.position < rhs.position }
      return lhs.id.rawValue < rhs.id.rawValue
    }
  }

  /// The places that a running attempt takes.
  struct Running: Sendable {
    let host: String
    let destination: String?
  }

  private(set) var items: [DownloadID: DownloadItem] = [:]
  /// The download to a destination, or of a URL without a destination.
  private var identities: [DownloadIdentity: DownloadID] = [:]
  /// The downloads that wait for a slot and have no running attempt, in the order in which they start.
  private(set) var ready: [Turn] = []
  /// The running attempts, also those that were told to stop and have not ended.
  private(set) var running: [DownloadID: Running] = [:]
  private var perHost: [String: Int] = [:]
  private(set) var summary = DownloadSummary()
  /// The downloads that changed since the list was last saved; a removed one is not in `items`.
  var unsaved: Set<DownloadID> = []
  var totalLimit: Int
  var perHostLimit: Int
  private var lastPosition: Int64 = 0
  /// The distance of two downloads that were added one after the other: room for those moved in between.
  private static let step: Int64 = 1 << 20

  /// - Parameter items: the downloads of a saved list, in any order.
  init(_ items: [DownloadItem], totalLimit: Int, perHostLimit: Int) {
    self.totalLimit = max(0, totalLimit)
    self.perHostLimit = max(1, perHostLimit)
    self.items.reserveCapacity(items.count)
    identities.reserveCapacity(items.count)
    // In the order of turns, each turn goes to the end of `ready`.
    for index in order(of: items) { insert(items[index]) }
    unsaved = []
  }

  /// The downloads in the order in which they would start.
  var ordered: [DownloadItem] {
    let items = Array(items.values)
    return order(of: items).map { items[$0] }
  }

  private func order(of items: [DownloadItem]) -> [Int] {
    // Turns are small, items are not.
    items.enumerated().map { (turn(of: $1), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The position behind all others.
  mutating func nextPosition() -> Int64 {
    lastPosition += Self.step
    return lastPosition
  }

  /// The download to the same destination, or, without a destination, of the same URL.
  func item(inPlaceOf download: Download) -> DownloadItem? {
    identities[DownloadIdentity(SharedDownload(download))].flatMap { items[$0] }
  }

  mutating func insert(_ item: DownloadItem) {
    items[item.id] = item
    identities[DownloadIdentity(item.shared)] = item.id
    lastPosition = max(lastPosition, item.position)
    summary.count(item, sign: 1)
    unsaved.insert(item.id)
    if isReady(item) { insertTurn(of: item) }
  }

  /// Changes a download, and keeps order and counts right.
  ///
  /// - Parameter isSaved: whether the change belongs into the list on disk.
  mutating func change(_ id: DownloadID, isSaved: Bool = true, _ body: (inout DownloadItem) -> Void) {
    guard var item = items[id] else { return }
    summary.count(item, sign: -1)
    if isReady(item) { removeTurn(of: item) }
    body(&item)
    if !item.state.isRunning { item.rate = 0 }
    items[id] = item
    summary.count(item, sign: 1)
    if isReady(item) { insertTurn(of: item) }
    if isSaved { unsaved.insert(id) }
  }

  mutating func remove(_ id: DownloadID) {
    guard let item = items.removeValue(forKey: id) else { return }
    let identity = DownloadIdentity(item.shared)
    // A list that a program wrote wrongly may have two downloads to one destination.
    if identities[identity] == id { identities[identity] = nil }
    summary.count(item, sign: -1)
    if isReady(item) { removeTurn(of: item) }
    unsaved.insert(id)
  }

  /// Takes the downloads that may start now; each counts as running until `ended`.
  mutating func takeStarting() -> [DownloadItem] {
    var starting: [DownloadItem] = []
    var index = 0
    while running.count < totalLimit, index < ready.count {
      guard let item = items[ready[index].id], perHost[item.host, default: 0] < perHostLimit,
        !hasAttempt(to: item.download.destination)
      else {
        index += 1
        continue
      }
      change(item.id, isSaved: false) { $0.state = .validating }
      running[item.id] = Running(host: item.host, destination: item.download.destination)
      perHost[item.host, default: 0] += 1
      items[item.id].map { starting.append($0) }
    }
    return starting
  }

  /// Whether an attempt writes to a destination, which has one at a time. It may be that of a download that was removed.
  private func hasAttempt(to destination: String?) -> Bool {
    destination != nil && running.values.contains { $0.destination == destination }
  }

  /// The attempt of a download has ended: its slot is free.
  mutating func ended(_ id: DownloadID) {
    guard let attempt = running.removeValue(forKey: id) else { return }
    perHost[attempt.host, default: 1] -= 1
    if perHost[attempt.host] == 0 { perHost[attempt.host] = nil }
    if let item = items[id], isReady(item) { insertTurn(of: item) }
  }

  /// Puts a download before another one, with the priority of that one; nil puts it behind all of its own
  /// priority.
  mutating func move(_ id: DownloadID, before other: DownloadID?) {
    guard id != other, items[id] != nil else { return }
    guard let other else {
      let position = nextPosition()
      return change(id) { $0.position = position }
    }
    guard let next = items[other] else { return }
    var previous = positionBefore(next, except: id)
    if next.position - previous < 2 {
      renumber()
      guard let next = items[other] else { return }
      previous = positionBefore(next, except: id)
    }
    guard let next = items[other] else { return }
    let position = previous + (next.position - previous) / 2
    change(id) {
      $0.position = position
      $0.download.priority = next.download.priority
    }
  }

  /// The changes since the last call.
  mutating func takeUnsaved() -> (changed: [DownloadItem], removed: [DownloadID]) {
    defer { unsaved = [] }
    return (unsaved.compactMap { items[$0] }, unsaved.filter { items[$0] == nil })
  }

  private func positionBefore(_ next: DownloadItem, except id: DownloadID) -> Int64 {
    items.values.lazy
      .filter {
        $0.id != id && $0.download.priority == next.download.priority && $0.position < next.position
      }
      .map(\.position).max() ?? next.position - Self.step
  }

  private mutating func renumber() {
    for (index, item) in ordered.enumerated() {
      change(item.id) { $0.position = Int64(index + 1) * Self.step }
    }
    lastPosition = Int64(items.count) * Self.step
  }

  private func isReady(_ item: DownloadItem) -> Bool {
    item.state == .waiting(.slot) && !item.isHeld && running[item.id] == nil
  }

  private func turn(of item: DownloadItem) -> Turn {
    Turn(priority: item.download.priority, position: item.position, id: item.id)
  }

  private mutating func insertTurn(of item: DownloadItem) {
    let turn = turn(of: item)
    ready.insert(turn, at: index(of: turn))
  }

  private mutating func removeTurn(of item: DownloadItem) {
    let turn = turn(of: item)
    let index = index(of: turn)
    if index < ready.count, ready[index] == turn { ready.remove(at: index) }
  }

  /// The index of the first turn that is not before `turn`.
  private func index(of turn: Turn) -> Int {
    var range = 0..<ready.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = ready[middle] < turn ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

/// The destination of a download, or its URL if it has none, without copies of them. A queue has one download for each.
private struct DownloadIdentity: Hashable {
  private let shared: SharedDownload

  init(_ shared: SharedDownload) { self.shared = shared }

  private var values: (String?, String?, String?, String?) {
    if let destination = shared.download.destination { return (nil, nil, nil, destination) }
    let request = shared.download.request
    return (request.scheme, request.authority, request.path, nil)
  }

  static func == (lhs: DownloadIdentity, rhs: DownloadIdentity) -> Bool { lhs.values == rhs.values }

  func hash(into hasher: inout Hasher) {
    let values = values
    hasher.combine(values.0)
    hasher.combine(values.1)
    hasher.combine(values.2)
    hasher.combine(values.3)
  }
}

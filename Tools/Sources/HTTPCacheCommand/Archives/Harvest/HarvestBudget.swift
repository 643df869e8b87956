/// The bytes that the bodies of a harvest may have together, and the transfers that run at once.
///
/// Bodies take their bytes in the order of their requests' numbers: which of them fit depends neither on the order in
/// which they arrive nor on those that are left out.
actor HarvestBudget {
  /// A body does not fit.
  struct Exceeded: Error, CustomStringConvertible {
    let left: Int64
    var description: String { "longer than the \(left) bytes that are left of --max-size" }
  }

  private static let transfersAtOnce = 4

  private let limit: Int64
  private var used: Int64 = 0
  /// The requests that have ended, of those with a number from `turn` on.
  private var ended: Set<Int> = []
  /// The lowest number of a request that has not ended.
  private var turn = 0
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  /// The numbers of the requests with a transfer.
  private var transfers: Set<Int> = []
  private var queue: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// - Parameter limit: the bytes of all bodies.
  init(limit: Int64) { self.limit = limit }

  /// Whether no further body fits.
  var isUsedUp: Bool { used >= limit }

  /// Waits until a transfer may begin.
  func begin(_ number: Int) async {
    if transfers.count < Self.transfersAtOnce {
      transfers.insert(number)
    } else {
      await withCheckedContinuation { queue.append((number, $0)) }
    }
  }

  /// Compares the bytes of a body so far with what the bodies before it have left.
  ///
  /// - Throws: `Exceeded`.
  func check(_ bytes: Int64) throws(Exceeded) {
    // Bodies with higher numbers have taken nothing yet.
    guard !isUsedUp, bytes <= limit - used else { throw Exceeded(left: limit - used) }
  }

  /// Takes the bytes of a body that has arrived whole, after the bodies before it have taken theirs.
  ///
  /// - Throws: `Exceeded`.
  func take(_ bytes: Int64, for number: Int) async throws(Exceeded) {
    // The transfer is over: another one may run while this body waits.
    endTransfer(number)
    if turn < number { await withCheckedContinuation { waiting[number] = $0 } }
    try check(bytes)
    used += bytes
  }

  /// Notes that a request has ended, with or without a body.
  func end(_ number: Int) {
    endTransfer(number)
    ended.insert(number)
    while ended.remove(turn) != nil { turn += 1 }
    waiting.removeValue(forKey: turn)?.resume()
  }

  private func endTransfer(_ number: Int) {
    guard transfers.remove(number) != nil, !queue.isEmpty else { return }
    let next = queue.removeFirst()
    transfers.insert(next.number)
    next.continuation.resume()
  }
}

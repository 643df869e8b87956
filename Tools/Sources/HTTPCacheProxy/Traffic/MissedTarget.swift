/// The requests for one target that a cache could have answered, and did not.
public struct MissedTarget: Sendable, Hashable {
  /// The host that clients asked for, cut after 255 bytes; empty if unknown.
  public internal(set) var host = ""
  /// The target as clients sent it, cut after 1,024 bytes.
  public internal(set) var target: String
  /// The number of requests. While more targets are requested than are kept, it may be too high by `uncertainty`.
  public internal(set) var count: Int64 = 0
  /// At most so many of `count` belong to other targets.
  public internal(set) var uncertainty: Int64 = 0
  /// The time of all these requests in microseconds.
  public internal(set) var microseconds: Int64 = 0
  /// The time of the slowest request in microseconds.
  public internal(set) var slowest: Int64 = 0
  /// The outcome of the latest request, as in the access log.
  public internal(set) var outcome = ""
  /// The status of the latest response.
  public internal(set) var status = 0
  /// Why the latest response that was not stored was not; nil if each was stored.
  public internal(set) var refusal: String?

  /// The common facts of requests for one target.
  struct Key: Hashable {
    let host: String
    let target: String
  }

  /// - Parameter count: the requests of the target whose place this one takes.
  init(_ key: Key, count: Int64 = 0) {
    (host, target) = (key.host, key.target)
    (self.count, uncertainty) = (count, count)
  }

  var key: Key { Key(host: host, target: target) }

  mutating func add(_ entry: AccessLog.Entry) {
    count += 1
    microseconds += entry.microseconds
    slowest = max(slowest, entry.microseconds)
    outcome = entry.outcome
    status = entry.status
    refusal = entry.refusal ?? refusal
  }

  mutating func add(_ other: MissedTarget) {
    count += other.count
    uncertainty += other.uncertainty
    microseconds += other.microseconds
    if other.slowest > slowest { (outcome, status) = (other.outcome, other.status) }
    slowest = max(slowest, other.slowest)
    refusal = other.refusal ?? refusal
  }
}

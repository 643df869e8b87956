/// How a `Range` header applies to a response of known length (RFC 9110 §14.2).
public enum RangeDecision: Sendable, Hashable {
  /// No usable range, or `If-Range` does not match: the whole representation.
  case whole
  /// 206 with these ranges of octets, in the requested order.
  case partial([Range<Int64>])
  /// 416: no range is satisfiable (RFC 9110 §15.5.17).
  case unsatisfiable
}

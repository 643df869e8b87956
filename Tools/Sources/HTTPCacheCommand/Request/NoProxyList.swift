import Foundation

/// The hosts of `no_proxy`, as curl reads them: names with all names below them, addresses, ranges of
/// addresses, `*` for all. Beyond curl, an entry may have a port.
struct NoProxyList: Sendable {
  private struct Entry: Sendable {
    let host: String
    let port: Int?
    /// The length of the prefix of a range of addresses.
    let prefix: Int?
  }

  /// Whether no host has a proxy.
  let isAll: Bool
  private let entries: [Entry]

  init(_ text: String) {
    let parts = text.split { $0 == "," || $0.isWhitespace }.map { $0.lowercased() }
    isAll = parts.contains("*")
    entries = parts.compactMap(Self.entry)
  }

  /// Whether requests for a host go without a proxy.
  ///
  /// - Parameter host: a name or an address, without brackets.
  func contains(host: String, port: Int) -> Bool {
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    let address = Self.bytes(name)
    return isAll
      || entries.contains { entry in
        guard entry.port == nil || entry.port == port else { return false }
        guard let address else {
          return entry.prefix == nil && (name == entry.host || name.hasSuffix("." + entry.host))
        }
        guard let network = Self.bytes(entry.host), network.count == address.count else { return false }
        return Self.haveSame(prefix: entry.prefix ?? network.count * 8, network, address)
      }
  }

  private static func entry(_ part: String) -> Entry? {
    var host = part[...]
    var (port, prefix): (Int?, Int?) = (nil, nil)
    if let slash = host.firstIndex(of: "/") {
      guard let length = Int(host[host.index(after: slash)...]), length >= 0 else { return nil }
      prefix = length
      host = host[..<slash]
    }
    let isBareIPv6 = host.first != "[" && host.filter { $0 == ":" }.count > 1
    if !isBareIPv6, let colon = host.lastIndex(of: ":"), let number = Int(host[host.index(after: colon)...]) {
      port = number
      host = host[..<colon]
    }
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    while host.first == "." { host.removeFirst() }
    if host.last == "." { host.removeLast() }
    return host.isEmpty ? nil : Entry(host: String(host), port: port, prefix: prefix)
  }

  /// The bytes of an address; nil for a name.
  private static func bytes(_ text: String) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
    if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
    return nil
  }

  private static func haveSame(prefix: Int, _ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard prefix <= left.count * 8 else { return false }
    let (whole, rest) = (prefix / 8, prefix % 8)
    guard left.prefix(whole) == right.prefix(whole) else { return false }
    return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0
  }
}

import HTTPCacheProxy

/// The hosts of `no_proxy`, as curl reads them: names with all names below them, addresses, ranges of
/// addresses, `*` for all. Beyond curl, an entry may have a port.
struct NoProxyList: Sendable {
  private struct Entry: Sendable {
    /// The name, or one address; nil for a range of addresses.
    let name: String?
    /// The addresses; nil for a name.
    let addresses: AddressRange?
    let port: Int?
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
    let address = IPAddress(name)
    return isAll
      || entries.contains { entry in
        guard entry.port == nil || entry.port == port else { return false }
        if let address { return entry.addresses?.contains(address) ?? false }
        return entry.name.map { name == $0 || name.hasSuffix("." + $0) } ?? false
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
    if host.isEmpty { return nil }
    return Entry(
      name: prefix == nil ? String(host) : nil,
      addresses: AddressRange(prefix.map { "\(host)/\($0)" } ?? String(host)), port: port)
  }
}

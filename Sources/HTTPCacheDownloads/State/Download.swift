import HTTPCacheSemantics
public import HTTPCaching

/// A file to download: the request, and where the file goes.
public struct Download: Sendable, Hashable {
  /// A GET, with scheme, authority and path. `Authorization`, `Proxy-Authorization` and `Cookie` are never
  /// written to the list on disk: `DownloadQueue.Configuration.prepare` adds them to each attempt.
  public var request: HTTPRequest
  /// The absolute path of the file to make; nil keeps the response in the cache only. The folder must exist.
  public var destination: String?
  /// Whether a file at `destination` that this queue did not write is replaced. If false, such a file makes the
  /// download fail with `destinationExists`.
  public var replacesExisting: Bool
  /// Downloads with a higher number start first.
  public var priority: Int
  /// The digests that the whole file must have; empty for no check. They need the trait `Crypto`.
  public var digests: [IntegrityDigest]
  /// The number of ranges of the file that are fetched at once, if the origin takes ranges and tells with a
  /// strong validator whether they belong together; else one stream is. Only for a download with a
  /// `destination`: ranges arrive there, and the finished file becomes the entry.
  public var segments = 1
  /// Whether the file at `destination` may be a link to the body file of the cache, so that each byte is written
  /// once. A program that then writes into the file damages the entry: the cache finds that by its checksums and
  /// fetches the response again. The file is a copy if it has segments or comes from the cache, if its bytes are
  /// encrypted there, or if it is on another file system.
  public var linksEntry = false
  /// Other absolute URLs of the same file. Where one fails, the next is asked at once; with `segments`, the ranges come
  /// from all of them. Bytes of two URLs are combined only if both have the same strong entity tag and length. Another
  /// origin than that of `request` gets neither `Authorization` nor `Cookie`.
  public var mirrors: [String] = []
  /// A name for a set of downloads, chosen by the caller; empty for none.
  public var group: String

  /// Makes a download.
  public init(
    request: HTTPRequest, to destination: String? = nil, replacesExisting: Bool = false,
    priority: Int = 0, digests: [IntegrityDigest] = [], group: String = ""
  ) {
    self.request = request
    self.destination = destination
    self.replacesExisting = replacesExisting
    self.priority = priority
    self.digests = digests
    self.group = group
  }

  /// Makes a download of a URL.
  ///
  /// - Throws: `DownloadError` with `invalidRequest` for text that is not an absolute http or https URL.
  public init(
    _ url: String, to destination: String? = nil, replacesExisting: Bool = false,
    priority: Int = 0, digests: [IntegrityDigest] = [], group: String = ""
  ) throws(DownloadError) {
    guard let parts = TargetURI.parts(of: url) else {
      throw DownloadError(.invalidRequest, "'\(url)' is not an absolute http or https URL")
    }
    self.init(
      request: HTTPRequest(
        method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path),
      to: destination, replacesExisting: replacesExisting, priority: priority, digests: digests,
      group: group)
  }

  /// The request to one of the URLs of the file, in turn.
  ///
  /// - Parameter number: 0 is the request itself, the following numbers are the mirrors, then again from the first.
  func request(number: Int) -> HTTPRequest {
    let index = number % (mirrors.count + 1)
    guard index > 0, let parts = TargetURI.parts(of: mirrors[index - 1]) else { return request }
    var other = request
    (other.scheme, other.authority, other.path) = (parts.scheme, parts.authority, parts.path)
    guard TargetURI.origin(of: mirrors[index - 1]) != TargetURI.origin(of: url) else { return other }
    for name in [HTTPField.Name.authorization, .proxyAuthorization, .cookie] {
      other.headerFields[name] = nil
    }
    return other
  }

  /// The URL of the request.
  public var url: String {
    "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
  }
}

extension IntegrityDigest {
  /// A SHA-256 digest from 64 hexadecimal digits; nil for any other text.
  public static func sha256(_ hexadecimal: String) -> IntegrityDigest? {
    IntegrityDigest(algorithm: .sha256, hexadecimal: hexadecimal)
  }

  /// Makes a digest of hexadecimal digits; nil for a text of another length, or with other characters.
  public init?(algorithm: Algorithm, hexadecimal: String) {
    let digits = Array(hexadecimal.utf8)
    guard digits.count == 2 * algorithm.length else { return nil }
    var value: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(ofDigit: digits[index]), let low = Self.value(ofDigit: digits[index + 1])
      else { return nil }
      value.append(high << 4 | low)
    }
    self.init(algorithm: algorithm, value: value)
  }

  /// The digest as `httpcache get --checksum` takes it, such as `md5=9001…`.
  var text: String {
    let name = algorithm == .sha1 ? "sha-1" : algorithm.rawValue
    return "\(name)=" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

/// Names a download of one queue, also after the process has ended.
public struct DownloadID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// A random number.
  public let rawValue: UInt64

  /// Makes an identifier of a number that an earlier process kept.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// 16 hexadecimal digits.
  public var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

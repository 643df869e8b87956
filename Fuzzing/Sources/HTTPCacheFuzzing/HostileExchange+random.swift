import HTTPCacheSemantics
import HTTPTypes

extension HostileExchange {
  private static let names = [
    "Cache-Control", "Cache-Control", "Age", "Date", "Expires", "Last-Modified", "ETag", "Vary",
    "Pragma", "CDN-Cache-Control", "Connection", "If-None-Match", "If-Modified-Since", "Range",
    "If-Range", "If-Match", "Accept-Encoding", "Accept-Language", "Accept", "Cookie", "Location",
    "Content-Location", "Cache-Status", "Content-Length", "Content-Encoding", "Content-Range",
    "Content-Type", "Cache-Groups", "Cache-Group-Invalidation", "Authorization", "Accept-Ranges",
    "Foo",
  ].compactMap { HTTPField.Name($0) }

  private static let pieces = (directives + tokens).map { Array($0.utf8) }

  private static var directives: [String] {
    ResponseDirective.allCases.map { $0.name.description }
      + RequestDirective.allCases.map { $0.name.description }
  }

  private static let tokens = [
    "max-age=3600", "max-age=60", "=", "=", ",", ", ", ",,", "\"",
    "\\", ";", "q=0.5", "q=1.000", ";q=", "*", "W/", "W/\"", "\"abc\"", "\"abc", "0", "1", "3600",
    "-1", "9223372036854775807", "9223372036854775808", "18446744073709551616", "99999999999",
    "1234567890123456789012345678901234567890", "-1234567890123456789012345678901234567890", "1.5",
    " ", "\t", "bytes=", "bytes ", "0-", "-5", "1-2", "5-1", "0-9223372036854775807", "-", "/", "/*",
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Fri, 06 Nov 2020 11:00:00 GMT", "Sat, 01 Jan 0000 00:00:00 GMT",
    "Fri, 31 Dec 99999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:60 GMT", "gzip", "br", "en", "DE",
    "Foo", "foo", "close", "keep-alive", "http://example.com/", "//a.b:", "/../a", "%7e", "?", "#",
    "//", "@", ":80", ":443", "[::1]", "(", ")", ":YWJj:", "?1", "?0", "@1", "ü", "\u{80}", "hit",
    "fwd=miss", "ttl=5", "; detail=", "accept-encoding", "accept-language", "cookie", "a, b",
    "multipart/byteranges",
  ]

  private static let methods: [HTTPRequest.Method] = [.get, .get, .get, .head, .post, .put]
  private static let codes = [200, 200, 200, 206, 304, 404, 500, 100, 301, 416, 599, 999]

  /// Makes an exchange of random pieces that the rules look for.
  public init(_ random: inout Seeded) {
    self.init()
    if random.oneIn(2) { rules.mode = .shared }
    if random.oneIn(3) { rules.targetedFields = ["CDN-Cache-Control"] }
    if random.oneIn(3) { rules.normalizesVary = false }
    isDecoded = random.oneIn(4)
    if random.oneIn(2) { policy = random.pick(Self.policies) }
    for index in times.indices { times[index] = Self.time(&random) }
    length = random.oneIn(8) ? Int64(truncatingIfNeeded: random.next() >> 1) : 100
    request = Self.request(&random)
    response = Self.response(&random)
    newer = random.oneIn(3) ? HTTPResponse(status: .notModified) : Self.response(&random)
    other = random.oneIn(3) ? request : Self.request(&random)
    if random.oneIn(2) { rules.overrides = Self.overrides(&random) }
  }

  private static func request(_ random: inout Seeded) -> HTTPRequest {
    let path = "/" + String(decoding: value(&random, pieces: 4), as: UTF8.self)
    return HTTPRequest(
      method: random.pick(methods), scheme: "https",
      authority: random.oneIn(4) ? String(decoding: value(&random, pieces: 2), as: UTF8.self) : "a.b",
      path: path.filter { $0 != "\n" && $0 != "\r\n" }, headerFields: fields(&random))
  }

  private static func response(_ random: inout Seeded) -> HTTPResponse {
    HTTPResponse(status: .init(code: random.pick(codes)), headerFields: fields(&random))
  }

  /// Mostly a few fields; sometimes very many, or one field repeated many times.
  private static func fields(_ random: inout Seeded) -> HTTPFields {
    var fields = HTTPFields()
    let isFlood = random.oneIn(2_000)
    let count = isFlood ? 500 + random.below(1_500) : random.below(8)
    let only = random.oneIn(20) ? random.pick(names) : nil
    for _ in 0..<count {
      fields.append(
        HTTPField(
          name: only ?? random.pick(names), lenientValue: value(&random, pieces: isFlood ? 2 : 6)))
    }
    if random.oneIn(100) { fields.append(list(&random)) }
    return fields
  }

  /// Hundreds of ranges, thousands of names and the like.
  private static func list(_ random: inout Seeded) -> HTTPField {
    let name = random.pick(names)
    let member = random.pick(pieces)
    var value = name == .range ? Array("bytes=".utf8) : []
    for _ in 0..<random.below(random.oneIn(20) ? 4_000 : 300) {
      value += member
      value.append(UInt8(ascii: ","))
    }
    return HTTPField(name: name, lenientValue: value)
  }

  private static func value(_ random: inout Seeded, pieces count: Int) -> [UInt8] {
    var octets: [UInt8] = []
    for _ in 0..<random.below(count + 1) {
      if random.oneIn(12) {
        octets.append(UInt8(truncatingIfNeeded: random.next()))
      } else {
        octets += random.pick(pieces)
      }
    }
    return octets
  }

  private static func time(_ random: inout Seeded) -> Timestamp {
    switch random.below(12) {
    case 0: Timestamp(seconds: .max)
    case 1: Timestamp(seconds: .min)
    case 2: Timestamp(seconds: Int64(bitPattern: random.next()))
    default: Timestamp(seconds: 1_604_664_000 + Int64(random.below(20_000)) - 10_000)
    }
  }
}

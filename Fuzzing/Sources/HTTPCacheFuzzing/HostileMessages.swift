/// A generator of streams of messages from a client or an origin. Most messages are valid, some have parts that request
/// smuggling uses.
public enum HostileMessages {
  private static let requestLines = [
    "GET / HTTP/1.1", "POST /a?b HTTP/1.1", "HEAD http://a/ HTTP/1.0", "GET  / HTTP/1.1", "GET / HTTP/2.0",
    "\r\nGET / HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT a:1 HTTP/1.1", "GET /\t HTTP/1.1", "GET / HTTP/1.1 ",
  ]
  private static let statusLines = [
    "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 100 ", "HTTP/1.1 204 None", "HTTP/1.0 200",
    "HTTP/1.1 304 x",
    "HTTP/1.1  200 OK", "HTTP/1.1 0200 OK", "http/1.1 200 OK",
  ]
  private static let fields = [
    "Content-Length: 5", "Content-Length: 5", "Content-Length: 0", "content-length:5,5",
    "Content-Length: 5, 6",
    "Content-Length: +5", "Content-Length: 05", "Content-Length : 5", "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked", "Transfer-Encoding: Chunked", "Transfer-Encoding:\tchunked ",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: chunked;a=b",
    "Transfer-Encoding: chun\u{212A}ed", "Transfer-Encoding: x", "Transfer-Encoding:",
    "Transfer-Encoding : chunked",
    "Host: a", "X: 1", "X: \u{E9}", " folded: 1", "X", ": 1", "X: a\rb", "X: a\nContent-Length: 3",
    "Expect: 100-continue",
  ]
  private static let contents = [
    "hello", "hello", "5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n",
    "5;a=\"b\"\r\nhello\r\n00\r\nX: 1\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n", "5 0\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n", "0x5\r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n", "5\r\nhellox\r\n0\r\n\r\n", "0\r\nContent-Length: 9\r\n\r\n",
    "5\r\nhello\r\n0\r\n",
    "1;\u{0}\r\na\r\n0\r\n\r\n", "fffffffffffffff\r\na", "0000000000000005\r\nhello\r\n0\r\n\r\n",
    "0\r\n\r\n", "",
  ]

  /// Makes a stream in the form of `FuzzTarget.http1`.
  public static func stream(_ random: inout some RandomNumberGenerator) -> [UInt8] {
    let isRequests = Bool.random(using: &random)
    var text = isRequests ? "q" : UInt8.random(in: 0..<4, using: &random) == 0 ? "h" : "r"
    text.append(Character(UnicodeScalar(UInt8.random(in: 0x21...0x7E, using: &random))))
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      // The first elements of a list are valid.
      text += pick(isRequests ? requestLines : statusLines, &random) + "\r\n"
      for _ in 0..<Int.random(in: 0...3, using: &random) { text += pick(fields, &random) + "\r\n" }
      text += "\r\n" + pick(contents, &random)
    }
    var bytes = Array(text.utf8)
    if UInt8.random(in: 0..<8, using: &random) == 0 {
      bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
    }
    return bytes
  }

  private static func pick(_ list: [String], _ random: inout some RandomNumberGenerator) -> String {
    let index = Int.random(in: list.indices, using: &random)
    // The first half is twice as probable.
    return list[Bool.random(using: &random) ? index : index / 2]
  }
}

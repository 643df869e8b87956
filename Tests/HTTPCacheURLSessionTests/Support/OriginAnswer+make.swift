extension OriginAnswer {
  static func text(
    _ text: String, _ fields: [(String, String)] = [], status: Int = 200
  ) -> OriginAnswer {
    OriginAnswer(
      status: status, fields: [("Content-Type", "text/plain")] + fields,
      steps: [.bytes(Array(text.utf8))])
  }

  static func status(_ status: Int, _ fields: [(String, String)] = []) -> OriginAnswer {
    OriginAnswer(status: status, fields: fields)
  }

  static func redirect(
    to location: String, status: Int = 302, _ fields: [(String, String)] = []
  ) -> OriginAnswer {
    OriginAnswer(status: status, fields: [("Location", location)] + fields)
  }

  /// The answer if the request has these credentials, otherwise a 401 that asks for them.
  static func protected(
    _ request: OriginRequest, credentials base64: String, realm: String = "tests",
    _ answer: OriginAnswer
  ) -> OriginAnswer {
    if request["Authorization"] == "Basic \(base64)" { return answer }
    return .text("who are you?", [("WWW-Authenticate", "Basic realm=\"\(realm)\"")], status: 401)
  }

  /// The first `count` of `length` bytes of the pattern, and the end of the connection.
  static func brokenOff(
    after count: Int64, of length: Int64, tag: String, _ fields: [(String, String)] = []
  ) -> OriginAnswer {
    OriginAnswer(
      fields: fields + [("ETag", tag)], steps: [.pattern(0..<count), .cut], framing: .length(length))
  }

  /// 304 if the request has the entity tag, otherwise the answer with the tag.
  static func tagged(
    _ tag: String, _ request: OriginRequest, _ answer: OriginAnswer
  ) -> OriginAnswer {
    let sent = request["If-None-Match"]?.split(separator: ",").map { $0.drop { $0 == " " } } ?? []
    if sent.contains(where: { $0 == tag }) {
      return .status(304, [("ETag", tag)] + answer.fields.filter { $0.0 == "Cache-Control" })
    }
    var answer = answer
    answer.fields.append(("ETag", tag))
    return answer
  }

  /// `length` bytes of the pattern, or the range of them that `Range` and `If-Range` ask for (RFC 9110
  /// §13.1.5).
  static func ranged(
    _ request: OriginRequest, length: Int64, tag: String?, _ fields: [(String, String)] = []
  ) -> OriginAnswer {
    let validator = tag.map { [("ETag", $0)] } ?? []
    var answer = OriginAnswer(
      fields: fields + validator + [("Accept-Ranges", "bytes")], steps: [.pattern(0..<length)])
    if let condition = request["If-Range"], condition != tag { return answer }
    guard request["Range"] != nil else { return answer }
    guard let range = request.range(of: length) else {
      return .status(416, [("Content-Range", "bytes */\(length)")])
    }
    answer.status = 206
    answer.fields.append(
      ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"))
    answer.steps = [.pattern(range)]
    return answer
  }

  /// The text, compressed.
  static func gzip(_ text: String, _ fields: [(String, String)] = []) -> OriginAnswer {
    OriginAnswer(
      fields: [("Content-Type", "text/plain"), ("Content-Encoding", "gzip")] + fields,
      steps: [.bytes(Gzip.stored(Array(text.utf8)))])
  }
}

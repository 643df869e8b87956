import HTTPCaching

/// The content of a request, as the caller provided it.
enum RequestBody: Sendable {
  case none
  case data(Data)
  case file(URL)
  /// Can be read once.
  case stream(InputStreamSource)

  /// The content of a `URLRequest`.
  init(_ request: URLRequest) throws {
    if let data = request.httpBody {
      self = .data(data)
    } else if let stream = request.httpBodyStream {
      self = .stream(InputStreamSource(stream))
    } else {
      self = .none
    }
  }

  var isRepeatable: Bool { if case .stream = self { false } else { true } }

  var isEmpty: Bool { if case .none = self { true } else { false } }

  /// - Throws: `CocoaError` for a file that cannot be read.
  func make() throws -> MessageBody? {
    switch self {
    case .none: nil
    case .data(let data): MessageBody(BodyBytes(data))
    case .file(let url): MessageBody(try FileBodySource(url))
    case .stream(let source): MessageBody(source)
    }
  }
}

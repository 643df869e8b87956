/// Joins the responses of a WARC file with their requests, which come before or after them.
struct WARCPairs {
  /// A response, and the method of its request if that is known.
  struct Response {
    var head: RecordedHead
    let body: ArchiveOutput.Body
    let number: Int
    /// The place of its record, for notes.
    let place: String
    var method: String?

    mutating func join(_ request: HTTPMessageHead) {
      head.request = request.fields
      method = request.method
    }
  }

  /// Recorders write both next to each other; more than these are not waited for.
  private static let most = 64

  private var requests: [(id: String, message: HTTPMessageHead)] = []
  private var responses: [(id: String, response: Response)] = []

  /// Adds a request.
  ///
  /// - Parameters:
  ///   - id: the identifier of its record.
  ///   - others: the records that it belongs to.
  /// - Returns: a response that is complete now.
  mutating func add(request: HTTPMessageHead, id: String?, to others: [String]) -> Response? {
    if let index = responses.lastIndex(where: { others.contains($0.id) }) {
      var response = responses.remove(at: index).response
      response.join(request)
      return response
    }
    guard let id else { return nil }
    requests.append((id, request))
    if requests.count > Self.most { requests.removeFirst() }
    return nil
  }

  /// Adds a response.
  ///
  /// - Returns: a response that is complete now, or that waited for too long.
  mutating func add(response: Response, id: String?, to others: [String]) -> Response? {
    if let index = requests.lastIndex(where: { others.contains($0.id) }) {
      var response = response
      response.join(requests.remove(at: index).message)
      return response
    }
    guard let id else { return response }
    responses.append((id, response))
    return responses.count > Self.most ? responses.removeFirst().response : nil
  }

  /// The responses whose requests did not come.
  mutating func rest() -> [Response] {
    defer { responses = [] }
    return responses.map(\.response)
  }
}

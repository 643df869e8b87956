import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// The moment at which a stored resource changes, relative to a running GET.
enum ChangeMoment: CaseIterable, Sendable {
  case beforeSending, beforeHead, duringHook, duringBody, afterLastByte
}

/// An origin that runs a closure at one moment of the first GET of `/page`. Its answer was made before that
/// moment.
final class ChangingOrigin: Upstream {
  private let moment: ChangeMoment
  private let change = Mutex<(@Sendable () async throws -> Void)?>(nil)
  private let count = Atomic<Int>(0)

  init(_ moment: ChangeMoment) { self.moment = moment }

  /// The number of requests for `/page`.
  var requests: Int { count.load(ordering: .relaxed) }

  func onMoment(_ body: @escaping @Sendable () async throws -> Void) { change.withLock { $0 = body } }

  /// Changes the resource if this is the moment, once.
  func reached(_ moment: ChangeMoment) async throws {
    guard moment == self.moment, let change = change.withLock({ $0.take() }) else { return }
    try await change()
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let path = request.head.path
    if path == "/logout" {
      return respond(200, [.clearSiteData: "\"cache\""])
    }
    guard path == "/page", request.head.method == .get else {
      return respond(200, [.cacheGroupInvalidation: path == "/group" ? "\"g\"" : ""])
    }
    let number = count.add(1, ordering: .relaxed).newValue
    do { try await reached(.beforeHead) } catch { throw UpstreamError(.protocol, "\(error)") }
    let fields: HTTPFields = [.cacheControl: "max-age=600", .cacheGroups: "\"g\""]
    return UpstreamResponse(
      head: HTTPResponse(status: .ok, headerFields: fields),
      body: MessageBody(ChangingBody(number: number, origin: self)))
  }

  private func respond(_ status: Int, _ fields: HTTPFields) -> UpstreamResponse {
    UpstreamResponse(
      head: HTTPResponse(status: .init(code: status), headerFields: fields), body: .empty)
  }
}

/// Two pieces that state the number of their answer.
private final class ChangingBody: BodySource {
  private let number: Int
  private let origin: ChangingOrigin
  private let next = Atomic<Int>(0)
  let length: Int64? = nil
  let trailers: HTTPFields = [:]

  init(number: Int, origin: ChangingOrigin) {
    self.number = number
    self.origin = origin
  }

  func next() async throws -> BodyBytes? {
    let piece = next.add(1, ordering: .relaxed).oldValue
    if piece == 1 { try await origin.reached(.duringBody) }
    if piece == 2 { try await origin.reached(.afterLastByte) }
    return piece < 2 ? BodyBytes(Array("\(number)".utf8)) : nil
  }

  func cancel() {}
}

import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

/// The moment at which a stored resource changes, relative to a running GET.
enum ChangeMoment: CaseIterable, Sendable {
  case beforeSending, beforeHead, duringHook, duringBody, afterLastByte
}

/// An origin that runs a closure at one moment of the first GET of `/page`. Its answer was made before that
/// moment.
final class ChangingOrigin: Sendable {
  private let moment: ChangeMoment
  private let change = Mutex<(@Sendable () async throws -> Void)?>(nil)
  private let count = Counter()

  init(_ moment: ChangeMoment) { self.moment = moment }

  /// The number of requests for `/page`.
  var requests: Int { count.value }

  func onMoment(_ body: @escaping @Sendable () async throws -> Void) { change.withLock { $0 = body } }

  /// Changes the resource if this is the moment, once.
  func reached(_ moment: ChangeMoment) async throws {
    guard moment == self.moment, let change = change.withLock({ $0.take() }) else { return }
    try await change()
  }

  func makeUpstream() -> ScriptedUpstream { ScriptedUpstream { [self] in await answer($0.head) } }

  /// Two pieces that state the number of the answer.
  private func answer(_ request: HTTPRequest) async -> ScriptedResponse {
    if request.path == "/logout" { return ScriptedResponse(headers: ["Clear-Site-Data": "\"cache\""]) }
    guard request.path == "/page", request.method == .get else {
      return ScriptedResponse(
        headers: ["Cache-Group-Invalidation": request.path == "/group" ? "\"g\"" : ""])
    }
    let piece = BodyBytes(Array("\(count.increment())".utf8))
    do { try await reached(.beforeHead) } catch { return .failure(.protocol) }
    return ScriptedResponse(
      headers: ["Cache-Control": "max-age=600", "Cache-Groups": "\"g\""], chunks: [piece, piece]
    ).stalling(after: 1, at: gate(.duringBody)).stalling(after: 3, at: gate(.afterLastByte))
  }

  /// A gate that opens once the resource has changed, if this is the moment.
  private func gate(_ moment: ChangeMoment) -> Gate {
    let gate = Gate()
    Task {
      await gate.waitForArrivals(1)
      do { try await reached(moment) } catch { Issue.record(error) }
      gate.open()
    }
    return gate
  }
}

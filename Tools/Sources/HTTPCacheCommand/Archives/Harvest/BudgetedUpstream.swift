import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

/// The origin of a harvest's recording: a body that does not fit into the budget breaks off before its end, so that it
/// is not recorded.
struct BudgetedUpstream: Upstream {
  let base: any Upstream
  let budget: HarvestBudget

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await base.send(request)
    if let place = request.context as? HarvestUpstream.Place {
      response.body = MessageBody(BudgetedBody(response.body.source, number: place.number, budget: budget))
    }
    return response
  }
}

/// The body of a response that takes its bytes from the budget at its end.
private final class BudgetedBody: BodySource {
  private let source: any BodySource
  private let number: Int
  private let budget: HarvestBudget
  private let bytes = Atomic<Int64>(0)

  init(_ source: any BodySource, number: Int, budget: HarvestBudget) {
    (self.source, self.number, self.budget) = (source, number, budget)
  }

  var length: Int64? { source.length }
  var trailers: HTTPFields { source.trailers }

  /// - Throws: `HarvestBudget.Exceeded`, and what the origin's body throws.
  func next() async throws -> BodyBytes? {
    guard let piece = try await source.next() else {
      try await budget.take(bytes.load(ordering: .relaxed), for: number)
      return nil
    }
    let sum = bytes.add(Int64(piece.count), ordering: .relaxed).newValue
    do {
      try await budget.check(max(sum, source.length ?? 0))
    } catch {
      source.cancel()
      throw error
    }
    return piece
  }

  func cancel() { source.cancel() }
}

import Foundation
import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes

/// Fetches URLs, and what they refer to, into a recording.
actor Harvest {
  /// The use of a URL.
  enum Role: Sendable {
    /// Kept as it is.
    case plain
    /// A page: what it needs to be shown is fetched, too.
    case page
    /// A list of pages, which is not kept itself.
    case sitemap
  }

  typealias Found = (url: String, role: Role)

  /// A URL in the queue.
  private struct Queued {
    let url: String
    let role: Role
    /// The origin of the URL that the user named, from which this one was found.
    let root: String?
  }

  private struct TooLong: Error, CustomStringConvertible {
    let description = "longer than 16 MiB, the limit for a page, style sheet or sitemap"
  }

  private struct TooManySitemaps: Error, CustomStringConvertible {
    let description = "not read: the sitemaps before have more than 256 MiB together"
  }

  private static let longestPage = 16 << 20
  /// The decoded bytes of all sitemaps together: they may name each other.
  private static let longestSitemaps = 256 << 20
  /// Four transfers run at once; the other bodies have arrived, and wait for those before them.
  private static let openAtOnce = 16

  private let upstream: any Upstream
  private let recording: ReplayUpstream
  private let limit: Int
  private let byteLimit: Int64
  private let budget: HarvestBudget
  private let report: @Sendable (String) -> Void
  private var seen: Set<String> = []
  /// The URLs in the order of their requests: the given ones, then those that they lead to. The place is the number.
  private var queue: [Queued] = []
  private var sitemapLength = 0
  private var isLimited = false

  /// - Parameters:
  ///   - upstream: where requests go.
  ///   - recording: the HAR file that is written.
  ///   - limit: the maximum number of URLs.
  ///   - byteLimit: the maximum number of bytes of all recorded bodies together.
  ///   - report: told of each URL that cannot be fetched.
  init(
    _ upstream: any Upstream, recording: String, limit: Int, byteLimit: Int64,
    report: @escaping @Sendable (String) -> Void
  ) throws(CacheError) {
    self.upstream = upstream
    budget = HarvestBudget(limit: byteLimit)
    self.recording = try ReplayUpstream(
      path: recording, mode: .recordAll, origin: BudgetedUpstream(base: upstream, budget: budget),
      recordingLimit: .max)
    self.limit = limit
    self.byteLimit = byteLimit
    self.report = report
  }

  /// Fetches URLs and everything that they lead to. The limits hold in the order of the URLs, whichever answers first:
  /// a body that is too long for the rest of the bytes is left out, and a later one may still fit.
  ///
  /// - Returns: the number of recorded responses.
  /// - Throws: `CacheError` if the recording cannot be written.
  func run(_ urls: [Found]) async throws(CacheError) -> Int {
    for (url, role) in urls { add(url, role: role, root: TargetURI.origin(of: url)) }
    let asked = await fetchAll()
    if asked < queue.count {
      report("the \(byteLimit) bytes of --max-size are used up: the rest was not fetched")
    }
    if isLimited { report("more than \(limit) URLs: the rest was not fetched (--limit)") }
    return try await recording.finish()
  }

  /// - Returns: the number of URLs that were asked for.
  private func fetchAll() async -> Int {
    await withTaskGroup(of: (number: Int, found: [Found]).self) { group in
      var (asked, running, added) = (0, 0, 0)
      var results: [Int: [Found]] = [:]
      while true {
        while running < Self.openAtOnce, asked < queue.count, await !budget.isUsedUp {
          let (number, next) = (asked, queue[asked])
          group.addTask { (number, await self.fetched(next, number)) }
          (asked, running) = (asked + 1, running + 1)
        }
        guard let (number, found) = await group.next() else { return asked }
        running -= 1
        results[number] = found
        // In the order of the URLs that led to them.
        while let found = results.removeValue(forKey: added) {
          for (url, role) in found { add(url, role: role, root: queue[added].root) }
          added += 1
        }
      }
    }
  }

  private func add(_ url: String, role: Role, root: String?) {
    guard !seen.contains(url) else { return }
    guard seen.count < limit else {
      isLimited = true
      return
    }
    seen.insert(url)
    queue.append(Queued(url: url, role: role, root: root))
  }

  private func fetched(_ next: Queued, _ number: Int) async -> [Found] {
    await budget.begin(number)
    let found = await tried(next, number)
    await budget.end(number)
    return found
  }

  private func tried(_ next: Queued, _ number: Int) async -> [Found] {
    do {
      // An origin may have closed a connection just before it was used again.
      do { return try await found(at: next, number) } catch is UpstreamError {}
      return try await found(at: next, number)
    } catch {
      let reason = (error as? UpstreamError)?.message ?? "\(error)"
      report("\(next.url): \(error is CancellationError ? "interrupted" : reason)")
      return []
    }
  }

  private func found(at next: Queued, _ number: Int) async throws -> [Found] {
    let (url, role) = (next.url, next.role)
    guard let parts = TargetURI.parts(of: url) else { return [] }
    if role == .sitemap, sitemapLength >= Self.longestSitemaps { throw TooManySitemaps() }
    let head = HTTPRequest(
      method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path,
      headerFields: [.accept: "*/*", .userAgent: "httpcache"])
    let place = HarvestUpstream.Place(
      number: number, isNamed: next.root != nil && next.root == TargetURI.origin(of: url))
    let request = UpstreamRequest(head: head, context: place)
    let response = try await role == .sitemap ? upstream.send(request) : recording.send(request)
    let status = response.head.status.code
    guard status < 400 else {
      response.body.source.cancel()
      report("\(url): \(status) \(response.head.status.reasonPhrase)")
      return []
    }
    let type = (response.head.headerFields[.contentType] ?? "").lowercased()
    let isRead = role == .sitemap || (role == .page && type.contains("html")) || type.hasPrefix("text/css")
    let bytes = try await read(response.body, keeps: isRead)
    if (300..<400).contains(status), let location = response.head.headerFields[.location] {
      return TargetURI.resolved(location, against: url).map { [($0, role)] } ?? []
    }
    return try links(in: bytes, next, type)
  }

  /// The URLs that a document leads to.
  ///
  /// - Throws: `Sitemap.Failure`.
  private func links(in bytes: BodyBytes, _ document: Queued, _ type: String) throws -> [Found] {
    switch document.role {
    case .sitemap:
      let map = try Sitemap(bytes)
      sitemapLength += map.length
      for note in map.others.notes { report("\(document.url): \(note)") }
      return found(map.sitemaps, as: .sitemap, in: document) + found(map.pages, as: .page, in: document)
    case .page where type.contains("html"):
      let charset = type.split(separator: "=").last.map(String.init)
      let encoding = type.contains("charset=") ? charset?.trimmingCharacters(in: ["\"", " "]) : nil
      let urls = PageReferences.find(in: bytes.array, of: document.url, encoding: encoding)
      return found(urls, as: .plain, in: document)
    default:
      guard type.hasPrefix("text/css") else { return [] }
      let text = String(decoding: bytes.array, as: UTF8.self)
      return found(
        PageReferences.absolute(CSSReferences.find(in: text), document.url), as: .plain, in: document)
    }
  }

  private func found(_ urls: DocumentURLs, as role: Role, in document: Queued) -> [Found] {
    if urls.isCut { report("\(document.url): \(DocumentURLs.limitText)") }
    return urls.urls.map { ($0, role) }
  }

  /// Reads a body to its end.
  ///
  /// - Returns: its bytes if they are kept.
  /// - Throws: `TooLong`, and what the body throws.
  private func read(_ body: MessageBody, keeps: Bool) async throws -> BodyBytes {
    var pieces: [BodyBytes] = []
    var length = 0
    for try await piece in body where keeps {
      length += piece.count
      guard length <= Self.longestPage else {
        body.source.cancel()
        throw TooLong()
      }
      pieces.append(piece)
    }
    return BodyBytes(pieces.flatMap(\.array))
  }
}

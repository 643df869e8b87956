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
    /// A style sheet.
    case style
    /// A list of pages, which is not kept itself.
    case sitemap
  }

  private struct TooLong: Error, CustomStringConvertible {
    let description = "longer than the limit (--max-size, and 16 MiB for a page or style sheet)"
  }

  private static let longestPage = 16 << 20
  private static let atOnce = 4

  private let upstream: any Upstream
  private let recording: ReplayUpstream
  private let limit: Int
  private let byteLimit: Int64
  private var bytes: Int64 = 0
  private let report: @Sendable (String) -> Void
  private var seen: Set<String> = []
  private var queue: [(url: String, role: Role)] = []
  private var isLimited = false

  /// - Parameters:
  ///   - upstream: where requests go.
  ///   - recording: the HAR file that is written.
  ///   - limit: the maximum number of URLs.
  ///   - byteLimit: the maximum number of bytes of all bodies together.
  ///   - report: told of each URL that cannot be fetched.
  init(
    _ upstream: any Upstream, recording: String, limit: Int, byteLimit: Int64,
    report: @escaping @Sendable (String) -> Void
  ) throws(CacheError) {
    self.upstream = upstream
    self.recording = try ReplayUpstream(path: recording, mode: .recordAll, origin: upstream)
    self.limit = limit
    self.byteLimit = byteLimit
    self.report = report
  }

  /// Fetches URLs and everything that they lead to.
  ///
  /// - Returns: the number of recorded responses.
  /// - Throws: `CacheError` if the recording cannot be written.
  func run(_ urls: [(url: String, role: Role)]) async throws(CacheError) -> Int {
    for (url, role) in urls { add(url, role) }
    await withTaskGroup(of: [(url: String, role: Role)].self) { group in
      var running = 0
      while running > 0 || (!queue.isEmpty && bytes <= byteLimit) {
        while running < Self.atOnce, bytes <= byteLimit, let next = queue.popLast() {
          group.addTask { await self.fetched(next.url, next.role) }
          running += 1
        }
        for (url, role) in await group.next() ?? [] { add(url, role) }
        running -= 1
      }
    }
    if bytes > byteLimit { report("more than \(byteLimit) bytes: the rest was not fetched (--max-size)") }
    if isLimited { report("more than \(limit) URLs: the rest was not fetched (--limit)") }
    return try await recording.finish()
  }

  private func add(_ url: String, _ role: Role) {
    guard !seen.contains(url) else { return }
    guard seen.count < limit else {
      isLimited = true
      return
    }
    seen.insert(url)
    queue.append((url, role))
  }

  private func fetched(_ url: String, _ role: Role) async -> [(url: String, role: Role)] {
    do {
      // An origin may have closed a connection just before it was used again.
      do { return try await found(at: url, role) } catch is UpstreamError {}
      return try await found(at: url, role)
    } catch {
      report("\(url): \((error as? UpstreamError)?.message ?? "\(error)")")
      return []
    }
  }

  private func found(at url: String, _ role: Role) async throws -> [(url: String, role: Role)] {
    guard let parts = TargetURI.parts(of: url) else { return [] }
    let head = HTTPRequest(
      method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path,
      headerFields: [.accept: "*/*", .userAgent: "httpcache"])
    let response = try await send(UpstreamRequest(head: head), isKept: role != .sitemap)
    let status = response.head.status.code
    guard status < 400 else {
      response.body.source.cancel()
      report("\(url): \(status) \(response.head.status.reasonPhrase)")
      return []
    }
    let type = (response.head.headerFields[.contentType] ?? "").lowercased()
    let isRead =
      role == .sitemap || (role == .page && type.contains("html")) || type.hasPrefix("text/css")
      || role == .style
    let bytes = try await read(response.body, keeps: isRead)
    if (300..<400).contains(status), let location = response.head.headerFields[.location] {
      return TargetURI.resolved(location, against: url).map { [($0, role)] } ?? []
    }
    switch role {
    case .sitemap:
      let map = try Sitemap(bytes)
      return map.sitemaps.map { ($0, .sitemap) } + map.pages.map { ($0, .page) }
    case .page where type.contains("html"):
      let charset = type.split(separator: "=").last.map(String.init)
      let encoding = type.contains("charset=") ? charset?.trimmingCharacters(in: ["\"", " "]) : nil
      return PageReferences.find(in: bytes.array, of: url, encoding: encoding).map { ($0, .plain) }
    default:
      guard type.hasPrefix("text/css") else { return [] }
      let text = String(decoding: bytes.array, as: UTF8.self)
      return PageReferences.absolute(CSSReferences.find(in: text), url).map { ($0, .style) }
    }
  }

  private func send(_ request: UpstreamRequest, isKept: Bool) async throws(UpstreamError) -> UpstreamResponse
  {
    isKept ? try await recording.send(request) : try await upstream.send(request)
  }

  /// Reads a body to its end.
  ///
  /// - Returns: its bytes if they are kept.
  /// - Throws: `TooLong` beyond the limits, and what the body throws.
  private func read(_ body: MessageBody, keeps: Bool) async throws -> BodyBytes {
    var pieces: [BodyBytes] = []
    var length = 0
    for try await piece in body {
      bytes += Int64(piece.count)
      length += piece.count
      guard bytes <= byteLimit, !keeps || length <= Self.longestPage else {
        body.source.cancel()
        throw TooLong()
      }
      if keeps { pieces.append(piece) }
    }
    return BodyBytes(pieces.flatMap(\.array))
  }
}

import ArgumentParser
import AsyncHTTPClient
import Foundation
import HTTPCacheProxy
import NIOCore
import NIOHTTP1
import NIOPosix

/// Reads from the admin listener of a running `httpcache serve`.
struct AdminClient: Sendable {
  private static let longestLine = 1 << 20

  private let address: String
  private let token: String?

  /// - Parameters:
  ///   - address: host and port, or a URL.
  ///   - token: the token of the listener; nil if it has none.
  init(address: String, token: String?) {
    let url = address.contains("://") ? address : "http://" + address
    self.address = url.hasSuffix("/") ? String(url.dropLast()) : url
    self.token = token
  }

  /// Asks for a page and passes on its lines as they come, until it ends or `take` throws.
  ///
  /// - Throws: `StartFailure` if the listener cannot be asked, refuses, is none, or ends the connection; what `take`
  ///   throws.
  func lines(of path: String, _ take: (String) async throws -> Void) async throws {
    var configuration = HTTPClient.Configuration()
    configuration.timeout = .init(connect: .seconds(10), read: nil)
    let client = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    do {
      try await lines(of: path, client, take)
    } catch {
      try? await client.shutdown()
      switch error {
      case is HTTPClientError, is HTTPParserError, is IOError, is ChannelError:
        throw StartFailure("the admin listener at \(address) ended the connection")
      default: throw error
      }
    }
    try await client.shutdown()
  }

  /// Reads the JSON of a line.
  ///
  /// - Throws: `StartFailure` if it is not what an admin listener sends.
  func value<Value: Decodable>(_ type: Value.Type, in line: String) throws(StartFailure) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(line.utf8))
    } catch {
      throw noListener
    }
  }

  private var noListener: StartFailure {
    StartFailure(
      "\(address) is not the admin listener of httpcache serve: --admin requires the address of serve --admin"
    )
  }

  /// The type of what the listener answers.
  private static func contentType(of path: String) -> String {
    if path == "/live" { return "text/event-stream" }
    return path.prefix { $0 != "?" } == "/requests" ? "application/x-ndjson" : "application/json"
  }

  private func lines(
    of path: String, _ client: HTTPClient, _ take: (String) async throws -> Void
  ) async throws {
    var request = HTTPClientRequest(url: address + path)
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    let response: HTTPClientResponse
    do {
      response = try await client.execute(request, timeout: .hours(24 * 365))
    } catch {
      throw StartFailure("cannot reach the admin listener at \(address): \(Self.describe(error))")
    }
    guard response.status == .ok else {
      let text = try? await response.body.collect(upTo: 4_096)
      let message = text.map { String(buffer: $0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
      // All messages of the listener begin with the status.
      guard message.hasPrefix("\(response.status.code): ") else { throw noListener }
      throw StartFailure("\(address)\(path): \(message)")
    }
    guard response.headers.first(name: "Content-Type") == Self.contentType(of: path) else { throw noListener }
    var rest = ByteBuffer()
    for try await bytes in response.body {
      rest.writeImmutableBuffer(bytes)
      while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
        let count = end - rest.readerIndex
        let line = rest.readString(length: count) ?? ""
        rest.moveReaderIndex(forwardBy: 1)
        try await take(line)
      }
      rest.discardReadBytes()
      guard rest.readableBytes <= Self.longestLine else {
        throw StartFailure("\(address)\(path): a line is longer than \(Self.longestLine) bytes")
      }
    }
  }

  private static func describe(_ error: any Error) -> String {
    switch error {
    case let error as HTTPClientError: error.shortDescription
    case let error as NIOConnectionError:
      error.connectionErrors.first.map { describe($0.error) } ?? "the host name does not resolve"
    case let error as IOError: SystemMessage.text(error.errnoCode)
    case is HTTPParserError: "it does not answer in HTTP"
    default: "\(error)"
    }
  }
}

import Foundation
import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// Performs one line after the other and writes the replies.
final class Driver: Sendable {
  private let cache: HTTPCache
  private let upstream: NIOUpstream
  private let output = Mutex(FileHandle.standardOutput)

  init(cache: HTTPCache, upstream: NIOUpstream) {
    self.cache = cache
    self.upstream = upstream
  }

  func perform(_ line: String) async {
    let drive: DriveRequest
    do {
      drive = try JSONDecoder().decode(DriveRequest.self, from: Data(line.utf8))
    } catch {
      let id = try? JSONDecoder().decode(DriveRequest.Identity.self, from: Data(line.utf8)).id
      write(DriveReply(id: id ?? 0, error: "\(error)"))
      return
    }
    do {
      write(try await reply(to: drive))
    } catch is UpstreamError {
      // What a proxy would say: the origin cannot be reached and nothing stored may answer.
      write(DriveReply(id: drive.id, status: 504, headers: [], body: "", interim: []))
    } catch {
      write(DriveReply(id: drive.id, error: "\(error)"))
    }
  }

  private func reply(to drive: DriveRequest) async throws -> DriveReply {
    let interim = Mutex<[DriveReply.Interim]>([])
    let options = RequestOptions(redirectLimit: 0) { head in
      let reply = DriveReply.Interim(
        status: head.status.code, headers: DriveReply.headers(head.headerFields))
      interim.withLock { $0.append(reply) }
    }
    let response = try await cache.respond(
      to: drive.request(), body: drive.body.map { MessageBody(BodyBytes(Array($0.utf8))) },
      policy: drive.policy(), options: options, via: upstream)
    let body = try await response.body.collect(upTo: 64 << 20)
    return DriveReply(
      id: drive.id, status: response.head.status.code,
      headers: DriveReply.headers(response.head.headerFields),
      body: String(decoding: body.array, as: UTF8.self), interim: interim.withLock { $0 })
  }

  private func write(_ reply: DriveReply) {
    guard var line = try? JSONEncoder().encode(reply) else { return }
    line.append(0x0A)
    output.withLock { $0.write(line) }
  }
}

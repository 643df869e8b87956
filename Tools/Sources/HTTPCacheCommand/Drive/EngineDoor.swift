import HTTPCacheProxy
import HTTPCaching
import NIOPosix
import Synchronization

/// The door that uses the engine itself, over the upstream of `httpcache serve`.
struct EngineDoor: DriveDoor {
  private let cache: HTTPCache
  private let upstream: NIOUpstream

  init(_ cache: HTTPCache) throws {
    self.cache = cache
    upstream = try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton)
  }

  func reply(to drive: DriveRequest) async throws -> DriveReply {
    let interim = Mutex<[DriveReply.Interim]>([])
    let options = RequestOptions(redirectLimit: 0) { head in
      let reply = DriveReply.Interim(
        status: head.status.code, headers: DriveReply.headers(head.headerFields))
      interim.withLock { $0.append(reply) }
    }
    let response = try await cache.respond(
      to: drive.request(), body: drive.body.map { MessageBody(BodyBytes(Array($0.utf8))) },
      policy: drive.policy(), options: options, via: upstream)
    let body = try await response.body.collect(upTo: DriveReply.bodyLimit)
    return DriveReply(
      id: drive.id, status: response.head.status.code,
      headers: DriveReply.headers(response.head.headerFields),
      body: String(decoding: body.array, as: UTF8.self), interim: interim.withLock { $0 })
  }

  func close() async throws {
    upstream.shutDown()
    await cache.flush()
  }
}

import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching
import NIOCore
import NIOHTTP1

/// The door over `CachedHTTPClient`, used as a program uses it.
struct AsyncHTTPClientDoor: DriveDoor {
  private let client: CachedHTTPClient

  init(_ cache: HTTPCache) {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    client = CachedHTTPClient(
      cache: cache, configuration: configuration, redirectLimit: 0, hasOneAccount: true)
  }

  func reply(to drive: DriveRequest) async throws -> DriveReply {
    let head = try drive.request()
    let policy = try drive.policy()
    var request = HTTPClientRequest(url: drive.url)
    request.method = HTTPMethod(rawValue: head.method.rawValue)
    for field in head.headerFields { request.headers.add(name: field.name.rawName, value: field.value) }
    if let body = drive.body { request.body = .bytes(ByteBuffer(string: body)) }
    do {
      let response = try await client.execute(request, timeout: .seconds(60), cachePolicy: policy)
      let body = try await response.body.collect(upTo: DriveReply.bodyLimit)
      return DriveReply(
        id: drive.id, status: Int(response.status.code),
        headers: response.headers.map { [$0.name, DriveReply.octets(Array($0.value.utf8))] },
        body: String(buffer: body), interim: [])
    } catch is CacheOnlyMiss {
      return DriveReply(id: drive.id, status: 504, headers: [], body: "", interim: [])
    } catch {
      throw UpstreamError(.protocol, "\(error)", cause: error)
    }
  }

  func close() async throws { try await client.shutdown() }
}

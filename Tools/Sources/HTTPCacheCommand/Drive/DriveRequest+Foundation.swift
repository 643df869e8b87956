#if URLSessionDoors
  import Foundation
  import HTTPCacheURLSession
  import HTTPCaching

  extension DriveRequest {
    /// The line's request as a `URLRequest`.
    func urlRequest() throws -> URLRequest {
      let head = try request()
      guard let url = URL(string: url) else { throw Invalid(description: "no URL: \(self.url)") }
      var request = URLRequest(url: url)
      request.httpMethod = head.method.rawValue
      for field in head.headerFields {
        request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
      }
      request.httpBody = body.map { Data($0.utf8) }
      return request
    }

    /// Foundation's policy for a cache mode of the Fetch standard. Foundation has no policy that does not store;
    /// for `no-store` the policy at least ignores stored responses.
    func foundationsPolicy() throws(Invalid) -> URLRequest.CachePolicy {
      switch cacheMode {
      case nil, "default": .useProtocolCachePolicy
      case "no-store": .reloadIgnoringLocalCacheData
      case "reload": .reloadIgnoringLocalAndRemoteCacheData
      case "no-cache": .reloadRevalidatingCacheData
      case "force-cache": .returnCacheDataElseLoad
      case "only-if-cached": .returnCacheDataDontLoad
      case let mode?: throw Invalid(description: "no cache mode: \(mode)")
      }
    }

    /// The session's reply. A `URLError` means that the origin cannot be reached, or must not be asked.
    func reply(_ load: () async throws -> (Data, URLResponse)) async throws -> DriveReply {
      do {
        let (data, response) = try await load()
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let headers = response.allHeaderFields.compactMap { name, value -> [String]? in
          guard let name = name as? String, let value = value as? String else { return nil }
          return [name, DriveReply.octets(Array(value.utf8))]
        }
        return DriveReply(
          id: id, status: response.statusCode, headers: headers,
          body: String(decoding: data, as: UTF8.self), interim: [])
      } catch let error as URLError {
        throw UpstreamError(.protocol, "\(error)", cause: error)
      }
    }
  }

  extension URLSessionConfiguration {
    /// A configuration without cookies and credentials, so that each request is what its line says, as far as
    /// Foundation allows.
    static var forDriving: URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.urlCredentialStorage = nil
      configuration.httpMaximumConnectionsPerHost = 32
      return configuration
    }
  }
#endif

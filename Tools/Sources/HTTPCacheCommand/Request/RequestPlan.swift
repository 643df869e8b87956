import ArgumentParser
import Foundation
import HTTPCaching

/// What is sent for each URL, made once from the options.
struct RequestPlan {
  let method: HTTPRequest.Method
  /// The content; nil for none.
  let content: RequestContent?
  /// Whether bodies that come with gzip are decoded: gzip was asked for here, not by an own field.
  let decodes: Bool
  /// Whether a part of the body is asked for.
  let hasRange: Bool
  /// Whether `Host` may name another site than the URL, whose responses must not be found by the URL.
  let hasOwnHost: Bool
  private let fields: HTTPFields
  private let headers: [HeaderArgument]
  private let credentials: Credentials?
  private let netrc: NetrcFile?
  private let query: String?
  private let uploadName: String?

  /// Reads the options, and the files that they name.
  ///
  /// - Throws: `ValidationError`.
  init(_ options: RequestOptionGroup, content contentOptions: ContentOptionGroup? = nil) throws {
    let parts = contentOptions?.parts ?? []
    let data = parts.isEmpty ? nil : try DataArgument.joined(parts)
    let isQuery = contentOptions?.isQuery ?? false
    let upload = contentOptions?.uploadFile
    let headers = try options.headerArguments()
    if options.head, upload != nil || (data != nil && !isQuery) {
      throw ValidationError("-I asks with HEAD, which sends no content; leave out -d and -T, or add -G")
    }
    if let path = upload {
      if path != "-" { _ = try FileSource(path) }
      self.content = .file(path)
    } else {
      self.content = isQuery ? nil : data.map { .bytes(BodyBytes($0)) }
    }
    query = isQuery ? data.map { String(decoding: $0, as: UTF8.self) } : nil
    uploadName = upload.map { String($0.split(separator: "/").last ?? "") }
    let asked: HTTPRequest.Method =
      options.head ? .head : upload != nil ? .put : self.content != nil ? .post : .get
    method = options.method.flatMap { HTTPRequest.Method(rawValue: $0) } ?? asked
    hasRange = options.range != nil || headers.contains { $0.name == .range }
    decodes =
      options.compressed && !hasRange && !headers.contains { $0.name == .acceptEncoding }
    fields = Self.defaults(options, decodes: decodes, isForm: data != nil && !isQuery)
    hasOwnHost = headers.contains { $0.name.canonicalName == "host" && $0.value != nil }
    self.headers = headers
    credentials = try options.credentials()
    netrc = try options.netrcEntries()
  }

  /// The URL that is asked for: with the data of `-G` in its query, and the name of `-T`'s file in its path.
  ///
  /// - Throws: `ValidationError` where that is no URL.
  func target(_ url: TargetURL) throws -> TargetURL {
    var path = url.path
    if let uploadName, uploadName != "-", path.hasSuffix("/"), !path.contains("?") {
      path += DataArgument.encode(Data(uploadName.utf8))
    }
    if let query, !query.isEmpty { path += (path.contains("?") ? "&" : "?") + query }
    return path == url.path ? url : try url.with(path: path)
  }

  /// The request for a URL that `target` gave.
  func request(for url: TargetURL) -> HTTPRequest {
    var fields = fields
    if let known = credentials ?? url.credentials ?? netrc?.credentials(host: url.host) {
      fields[.authorization] = known.basic
    }
    fields.apply(headers)
    return url.request(method, fields)
  }

  /// What is sent where `-H` does not say otherwise.
  private static func defaults(_ options: RequestOptionGroup, decodes: Bool, isForm: Bool) -> HTTPFields {
    var fields: HTTPFields = [.accept: "*/*"]
    if !options.userAgent.isEmpty { fields[.userAgent] = options.userAgent }
    if decodes { fields[.acceptEncoding] = "gzip" }
    if let range = options.range { fields[.range] = "bytes=\(range)" }
    if let referer = options.referer { fields[.referer] = referer }
    if let cookie = options.cookie { fields[.cookie] = cookie }
    if isForm { fields[.contentType] = "application/x-www-form-urlencoded" }
    return fields
  }
}

extension RequestOptions {
  /// Options that accept the bodies that a plan decodes; ranges are taken of bodies without a coding only.
  init(_ plan: RequestPlan, redirectLimit: Int) {
    self.init(redirectLimit: redirectLimit)
    bodyForms = plan.decodes ? .any : .asSent
    if plan.hasRange { bodyForms = bodyForms.withoutCoding }
  }
}

extension BodyForms {
  /// These forms, without bodies in a content coding.
  var withoutCoding: BodyForms {
    switch self {
    case .asSent, .uncoded: .uncoded
    case .decoded, .any: .decoded
    }
  }
}

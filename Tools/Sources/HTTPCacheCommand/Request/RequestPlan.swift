import ArgumentParser
import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// The parts of a request that are equal for all URLs, made once from the options.
struct RequestPlan {
  let method: HTTPRequest.Method
  /// The content; nil for none.
  let content: RequestContent?
  /// Whether to decode bodies: true if `get` asked for content codings itself, not the user with a field.
  let decodes: Bool
  /// Whether a stored body in a content coding may be used. False with a range, which is taken of the body
  /// without a coding, and with `--no-compressed`: a response without `Vary` matches every `Accept-Encoding`
  /// (RFC 9111 §4.1).
  let acceptsEncoded: Bool
  /// The cookies of files and origins; nil if none are kept.
  let cookieJar: CookieJar?
  /// The lines of the file of `-c` that are no cookies, if `-b` read it: they stay.
  let cookieFileLines: [Data]
  private let fields: HTTPFields
  private let headers: [HeaderArgument]
  /// The users and passwords.
  let credentials: RequestCredentials
  private let query: String?
  private let uploadName: String?

  /// Reads the options, and the files that they name.
  ///
  /// - Parameter jarPath: the file that gets the cookies, which may be missing before.
  /// - Throws: `ValidationError`.
  init(
    _ options: RequestOptionGroup, content contentOptions: ContentOptionGroup? = nil,
    cookieJar jarPath: String? = nil
  ) throws {
    let parts = contentOptions?.parts ?? []
    let data = parts.isEmpty ? nil : try DataArgument.joined(parts)
    let isQuery = contentOptions?.isQuery ?? false
    let upload = contentOptions?.uploadFile
    let headers = try options.headerArguments()
    if options.head, upload != nil || (data != nil && !isQuery) {
      throw ValidationError("-I asks with HEAD, which sends no content; leave out -d and -T, or add -G")
    }
    if let path = upload {
      self.content = try RequestContent(file: path)
    } else {
      self.content = isQuery ? nil : data.map { .bytes(BodyBytes($0)) }
    }
    query = isQuery ? data.map { String(decoding: $0, as: UTF8.self) } : nil
    uploadName = upload.map { String($0.split(separator: "/").last ?? "") }
    let asked: HTTPRequest.Method =
      options.head ? .head : upload != nil ? .put : self.content != nil ? .post : .get
    method = options.method.flatMap { HTTPRequest.Method(rawValue: $0) } ?? asked
    let hasRange = options.range != nil || headers.contains { $0.name == .range }
    let hasOwnCodings = headers.contains { $0.name == .acceptEncoding }
    decodes = options.compressed && !hasRange && !hasOwnCodings
    acceptsEncoded = !hasRange && (options.compressed || hasOwnCodings)
    fields = Self.defaults(options, decodes: decodes, isForm: data != nil && !isQuery)
    self.headers = headers
    credentials = RequestCredentials(
      given: try options.credentials(), netrc: try options.netrcEntries(),
      hasOwnField: headers.contains { $0.name == .authorization })
    let files = options.cookieFiles
    let read = try Self.cookies(in: files.filter { !$0.isEmpty }, jarPath: jarPath)
    cookieJar = try files.isEmpty && jarPath == nil ? nil : CookieJar(read.cookies)
    cookieFileLines = read.otherLines
  }

  /// Reads the files of `-b`, and reports lines that are no cookies.
  ///
  /// - Returns: the cookies of all files, and the other lines of the file of `-c`.
  private static func cookies(in files: [String], jarPath: String?) throws -> CookieFile.Content {
    var all = CookieFile.Content()
    for file in files {
      let isJar = jarPath.map { CookieFile.isSameFile(file, as: $0) } ?? false
      let content = try CookieFile.content(at: file, mayBeMissing: isJar)
      all.cookies += content.cookies
      // A file that is named twice is read twice.
      if isJar { all.otherLines = content.otherLines }
      guard content.malformedCount > 0 else { continue }
      let count =
        content.malformedCount == 1 ? "1 line is no cookie" : "\(content.malformedCount) lines are no cookies"
      Console.report("httpcache: --cookie: \(count) in \(file)" + (isJar ? "; -c keeps what is there" : ""))
    }
    return all
  }

  /// The URL to request: with the data of `-G` in its query, and the name of `-T`'s file in its path.
  ///
  /// - Throws: `ValidationError` if the result is not a URL.
  func target(_ url: TargetURL) throws -> TargetURL {
    var path = url.path
    if let uploadName, uploadName != "-", path.hasSuffix("/"), !path.contains("?") {
      path += TargetURI.percentEncoded(uploadName.utf8)
    }
    if let query, !query.isEmpty { path += (path.contains("?") ? "&" : "?") + query }
    return path == url.path ? url : try url.with(path: path)
  }

  /// The request for a URL that `target` gave.
  func request(for url: TargetURL) -> HTTPRequest {
    var fields = fields
    if let known = credentials.credentials(of: url) {
      fields[.authorization] = known.basic
    }
    fields.apply(headers)
    return url.request(method, fields)
  }

  /// The default fields, which `-H` may replace.
  private static func defaults(_ options: RequestOptionGroup, decodes: Bool, isForm: Bool) -> HTTPFields {
    var fields: HTTPFields = [.accept: "*/*"]
    if !options.userAgent.isEmpty { fields[.userAgent] = options.userAgent }
    if decodes { fields[.acceptEncoding] = ContentCoding.accepted }
    if let range = options.range { fields[.range] = "bytes=\(range)" }
    if let referer = options.referer { fields[.referer] = referer }
    // In one line: the subscript would make a field of each cookie.
    if let cookie = options.cookieText { fields[fields: .cookie] = [HTTPField(name: .cookie, value: cookie)] }
    if isForm { fields[.contentType] = "application/x-www-form-urlencoded" }
    return fields
  }
}

extension RequestOptions {
  /// Options that accept the stored bodies that a plan accepts.
  init(_ plan: RequestPlan, redirectLimit: Int) {
    self.init(redirectLimit: redirectLimit)
    let (jar, credentials) = (plan.cookieJar, plan.credentials)
    addFields = { request in
      jar?.addCookies(to: &request)
      credentials.add(to: &request)
    }
    willFollow = { credentials.add(of: $0, to: &$1) }
    bodyForms = plan.decodes ? .any : .asSent
    if !plan.acceptsEncoded { bodyForms = bodyForms.withoutCoding }
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

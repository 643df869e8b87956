import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// The choices of `serve` that decide under which URLs responses are stored, and whether they are used.
///
/// A server keeps them in its directory (`ServeNote`), so that other commands decide as it does.
struct ServeRecord: Codable, Sendable {
  /// A configuration file. Its text is not kept here: it may have secrets.
  struct File: Codable, Sendable {
    var path: String
    /// When it was changed last, in seconds since 1970; nil if that is unknown.
    var modified: Int?

    init(_ path: String) {
      self.path = URL(fileURLWithPath: path).standardizedFileURL.path
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      let date = attributes?[.modificationDate] as? Date
      modified = date.flatMap { Int(exactly: $0.timeIntervalSince1970.rounded(.down)) }
    }

    /// Reads the file again; reports that it is not what the server has read.
    ///
    /// - Throws: `ConfigFailure`.
    func read() throws(ConfigFailure) -> ServeFile {
      if File(path).modified != modified {
        Console.report("httpcache: \(path) has changed since the server read it")
      }
      return try ServeFile(path)
    }
  }

  /// Where a gateway sends requests. SIGHUP changes it.
  struct Gateway: Codable, Sendable {
    var upstream: String?
    var preservesHost: Bool
  }

  /// The address of the listener.
  var listen: String
  var isShared: Bool
  var refusesSetCookie: Bool
  var keepsSetCookie: Bool
  var refusesClientErrors: Bool
  var guessesLifetimes: Bool
  /// The file with overrides and routes; nil without one.
  var file: File?
  /// nil for a forward proxy.
  var gateway: Gateway?

  /// - Parameter port: the port of the listener; nil before there is one.
  init(_ command: ServeCommand, _ file: ServeFile?, port: Int? = nil) {
    listen = "\(command.route.listen.bound(to: port))"
    isShared = command.mode == .shared
    refusesSetCookie = command.refuseSetCookie
    keepsSetCookie = command.keepSetCookie
    refusesClientErrors = command.refuseClientErrors
    guessesLifetimes = command.heuristics
    self.file = file.map { File($0.path) }
    gateway =
      command.route.forward
      ? nil
      : Gateway(
        upstream: command.route.upstream, preservesHost: command.gatewayOptions.preserveHost)
  }

  /// The mode of the cache.
  var mode: CacheMode { isShared ? .shared : .private }

  /// The rules of the cache.
  ///
  /// - Parameter file: the file with the overrides; nil without one.
  func rules(_ file: ServeFile?) -> CacheRules {
    var rules = CacheRules(mode: mode)
    rules.refusesSetCookie = refusesSetCookie
    rules.keepsSetCookie = keepsSetCookie
    rules.refusesClientErrors = refusesClientErrors
    if !guessesLifetimes { rules.heuristicFraction = 0 }
    if isShared { rules.targetedFields = ["CDN-Cache-Control"] }
    rules.overrides = file?.overrides ?? []
    return rules
  }
}

extension ServeRecord.Gateway {
  /// The routes, in the order in which they are tried.
  ///
  /// - Parameter file: the file with the routes; nil without one.
  func routes(_ file: ServeFile?) -> [GatewayRoute] {
    var last = upstream.flatMap { ServeRoutes.route(to: $0) }
    last?.preservesHost = preservesHost
    return (file?.routes ?? ServeRoutes()).all(default: last)
  }
}

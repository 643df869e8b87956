public import HTTPCacheSemantics
import HTTPCaching
public import HTTPTypes

/// An image that a caller wants: where it is, and what is made of it. It does not change, and is a class so that handing
/// it on counts one reference.
public final class ImageRequest: Sendable {
  /// A GET, with scheme, authority and path.
  public let request: HTTPRequest
  /// The processors of the image, in order.
  public let processors: [any ImageProcessor]
  /// When its download and decoding begin.
  public let priority: ImagePriority
  /// How the cache is used.
  public let policy: CachePolicy
  /// Separates accounts: see `RequestOptions.partition`.
  public let partition: String
  /// Names the response: requests with equal names share a download.
  let sourceID: ImageName
  /// Names the image: requests with equal names share a decoded image.
  let imageID: ImageName
  /// Whether a decoded image of a fresh response may answer.
  let mayUseMemory: Bool

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - request: a GET, with scheme, authority and path; `Authorization` and `Cookie` already added.
  ///   - processors: the processors of the image, in order.
  ///   - priority: when download and decoding begin.
  ///   - policy: how the cache is used.
  ///   - partition: separates accounts: see `RequestOptions.partition`.
  public init(
    request: HTTPRequest, processors: [any ImageProcessor] = [], priority: ImagePriority = .normal,
    policy: CachePolicy = .standard, partition: String = ""
  ) {
    self.request = request
    self.processors = processors
    self.priority = priority
    self.policy = policy
    self.partition = partition
    mayUseMemory =
      switch policy {
      case .standard, .cacheElseNetwork, .cacheOnly: true
      case .reload, .reloadEverywhere, .revalidate, .bypass, .networkElseCache: false
      }
    var name = "\(partition)\n\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    for field in request.headerFields { name += "\n\(field.name.canonicalName): \(field.value)" }
    sourceID = ImageName(name)
    if !processors.isEmpty { name += "\n\n" + processors.map(\.key).joined(separator: "\n") }
    imageID = ImageName(name)
  }

  /// Makes a request of a URL.
  ///
  /// - Parameters: as for the other initialiser.
  /// - Throws: `ImageError.invalidURL` for text that is not an absolute http or https URL.
  public convenience init(
    _ url: String, processors: [any ImageProcessor] = [], priority: ImagePriority = .normal,
    policy: CachePolicy = .standard, partition: String = ""
  ) throws(ImageError) {
    guard let parts = TargetURI.parts(of: url) else { throw .invalidURL(url) }
    self.init(
      request: HTTPRequest(method: .get, scheme: parts.scheme, authority: parts.authority, path: parts.path),
      processors: processors, priority: priority, policy: policy, partition: partition)
  }

  /// The request with another policy.
  func with(policy: CachePolicy) -> ImageRequest {
    ImageRequest(
      request: request, processors: processors, priority: priority, policy: policy, partition: partition)
  }

  /// The request with another priority.
  func with(priority: ImagePriority) -> ImageRequest {
    ImageRequest(
      request: request, processors: processors, priority: priority, policy: policy, partition: partition)
  }
}

/// The order in which downloads and decodings begin.
public enum ImagePriority: Int, Sendable, Comparable, CaseIterable {
  /// For images that are not shown yet; what `prefetch` uses.
  case low
  /// For images that are shown.
  case normal
  /// For images that come before all others.
  case high

  /// Compares by urgency.
  public static func < (lhs: ImagePriority, rhs: ImagePriority) -> Bool { lhs.rawValue < rhs.rawValue }

  var taskPriority: TaskPriority {
    switch self {
    case .low: .utility
    case .normal: .medium
    case .high: .high
    }
  }
}

/// The name of an image. It is hashed once, so that a look-up does not hash its URL.
struct ImageName: Hashable, Sendable {
  let text: String
  private let hash: Int

  init(_ text: String) {
    self.text = text
    hash = text.hashValue
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// One of the images that `ImageCache.updates(for:)` gives.
public struct ImageUpdate: Sendable {
  /// The image.
  public let image: DecodedImage
  /// Whether the image is of lower quality, because a part of the response is still missing.
  public let isPreview: Bool
  /// Where the response came from.
  public let outcome: CacheOutcome
}

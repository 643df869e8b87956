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

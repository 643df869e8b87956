import HTTPCacheLibC

/// Prints each event as one line on standard error: the target, what happened, why, and the number of bytes.
public struct PrintingObserver: CacheObserver {
  /// Makes an observer.
  public init() {}

  /// Prints the event.
  public func observe(_ event: CacheEvent) {
    let line = Array("httpcache: \(event)\n".utf8)
    line.withUnsafeBytes { bytes in
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}

extension CacheObserver where Self == PrintingObserver {
  /// An observer that prints each event as one line on standard error: `observer: .printing`.
  public static var printing: PrintingObserver { PrintingObserver() }
}

import HTTPCacheLibC

/// The meaning of a system error number, as part of a sentence.
public enum SystemMessage {
  /// A text such as `no such file` or `address already in use`.
  public static func text(_ code: Int32) -> String {
    switch code {
    case ENOENT: return "no such file"
    case EMFILE: return "the process is out of file descriptors (ulimit -n)"
    case ENFILE: return "the system is out of file descriptors"
    case EADDRNOTAVAIL: return "this machine does not have the address"
    default:
      let text = String(cString: strerror(code))
      return text.prefix(1).lowercased() + text.dropFirst()
    }
  }
}

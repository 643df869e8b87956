#if Tracing
  import HTTPTypes
  import Tracing

  /// Writes the context of a span into the fields of a request, instead of what a client sent there.
  struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into head: inout HTTPRequest) {
      guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
      head.headerFields[name] = value
    }
  }
#endif

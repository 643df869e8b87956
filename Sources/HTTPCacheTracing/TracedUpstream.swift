#if Tracing
  public import HTTPCaching
  import HTTPTypes
  public import Tracing

  /// Traces the requests to the origin with swift-distributed-tracing: a span for each, whose context goes to the origin
  /// in the fields of the tracer, such as `traceparent` (W3C Trace Context).
  ///
  /// A response from the cache without a question to the origin has no span. The span begins below the one that is
  /// current where the cache is asked, ends with the head of the response, and has the attributes of OpenTelemetry's
  /// conventions for clients: `http.request.method`, `url.full`, `server.address`, `http.response.status_code`,
  /// `error.type`.
  public struct TracedUpstream: Upstream {
    private let base: any Upstream
    private let tracer: (any Tracer)?
    private let showsQueries: Bool

    /// Makes an upstream.
    ///
    /// - Parameters:
    ///   - base: the upstream that sends the requests.
    ///   - tracer: the tracer; nil is the one of `InstrumentationSystem` at the time of each request.
    ///   - showsQueries: whether `url.full` has the query, which may contain secrets.
    public init(_ base: any Upstream, tracer: (any Tracer)? = nil, showsQueries: Bool = false) {
      self.base = base
      self.tracer = tracer
      self.showsQueries = showsQueries
    }

    /// As `defaultTimeout` of the base.
    public var defaultTimeout: Duration? { base.defaultTimeout }

    /// Sends a request below a span.
    ///
    /// - Throws: `UpstreamError` of the base.
    public func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      let tracer = tracer ?? InstrumentationSystem.tracer
      let span = tracer.startAnySpan(request.head.method.rawValue, ofKind: .client)
      defer { span.end() }
      describe(request.head, on: span)
      var request = request
      tracer.inject(span.context, into: &request.head, using: FieldInjector())
      do {
        let response = try await base.send(request)
        let status = response.head.status
        span.attributes["http.response.status_code"] = status.code
        if status.code >= 400 { fail(span, "\(status.code)") }
        return response
      } catch {
        span.recordError(error)
        fail(span, error.kind.rawValue)
        throw error
      }
    }

    private func describe(_ head: HTTPRequest, on span: any Span) {
      let path = head.path ?? "/"
      let url = "\(head.scheme ?? "http")://\(head.authority ?? "")"
      span.attributes["http.request.method"] = head.method.rawValue
      span.attributes["url.full"] = url + (showsQueries ? path[...] : path.prefix { $0 != "?" })
      span.attributes["server.address"] = head.authority
    }

    private func fail(_ span: any Span, _ type: String) {
      span.attributes["error.type"] = type
      span.setStatus(SpanStatus(code: .error))
    }
  }

  /// Writes the context of a span into the fields of a request, instead of what a client sent there.
  struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into head: inout HTTPRequest) {
      guard let name = HTTPField.Name(key), HTTPField.isValidValue(value) else { return }
      head.headerFields[name] = value
    }
  }
#endif

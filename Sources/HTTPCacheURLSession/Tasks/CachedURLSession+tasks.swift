import HTTPCaching

extension CachedURLSession {
  /// Makes a suspended task that loads a response with its whole body.
  ///
  /// - Parameters:
  ///   - request: with its body in `httpBody` or `httpBodyStream`.
  ///   - options: cache policy, hook, priority and timeout of this request.
  ///   - completionHandler: called once in the session's delegate queue, with the body and the response, or with a
  ///     `URLError`.
  public func dataTask(
    with request: URLRequest, options: LoadOptions = LoadOptions(),
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    dataTask(request, content: { try RequestBody(request) }, options: options, completion: completionHandler)
  }

  /// Makes a suspended task that loads a response with its whole body.
  ///
  /// - Parameters: as for `dataTask(with:options:completionHandler:)` with a request.
  public func dataTask(
    with url: URL, options: LoadOptions = LoadOptions(),
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    dataTask(with: URLRequest(url: url), options: options, completionHandler: completionHandler)
  }

  /// Makes a suspended task that sends data, and loads the response with its whole body.
  ///
  /// - Parameters:
  ///   - request: the target and the fields.
  ///   - bodyData: the content; the request's own content is not sent.
  ///   - options: the settings of this request.
  ///   - completionHandler: as for `dataTask(with:options:completionHandler:)`.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data, options: LoadOptions = LoadOptions(),
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    dataTask(request, content: { .data(bodyData) }, options: options, completion: completionHandler)
  }

  /// Makes a suspended task that sends a file, which is never in memory as a whole, and loads the response with its
  /// whole body.
  ///
  /// - Parameters: as for `uploadTask(with:from:options:completionHandler:)`.
  public func uploadTask(
    with request: URLRequest, fromFile fileURL: URL, options: LoadOptions = LoadOptions(),
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    dataTask(request, content: { .file(fileURL) }, options: options, completion: completionHandler)
  }

  /// Makes a suspended task that loads a response into a file.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - options: cache policy, hook, priority and timeout of this request.
  ///   - completionHandler: called once in the session's delegate queue, with a file and the response, whatever its
  ///     status, or with an error. The file is removed when the handler returns: move it before.
  public func downloadTask(
    with request: URLRequest, options: LoadOptions = LoadOptions(),
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    task(request, options: options) { task, options in
      try await self.reading(request, content: try RequestBody(request), options: options) { loaded in
        let file = TemporaryFile()
        try await self.write(task.loading(loaded).body, to: DownloadTarget(url: file.url))
        return file
      }
    } completion: { file, response, error in
      completionHandler(file?.url, response, error)
    }
  }

  private func dataTask(
    _ request: URLRequest, content: @escaping @Sendable () throws -> RequestBody, options: LoadOptions,
    completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    task(request, options: options) { task, options in
      try await self.reading(request, content: try content(), options: options) {
        try await task.loading($0).data()
      }
    } completion: {
      completion($0, $1, $2)
    }
  }

  /// Makes a task whose handler gets what `load` returns. `load` gets the options without `onMetrics`, because the
  /// task has a meter of its own, which counts pauses too.
  private func task<Content: Sendable>(
    _ request: URLRequest, options: LoadOptions,
    load: @escaping @Sendable (CachedURLSessionTask, LoadOptions) async throws -> Content,
    completion: @escaping @Sendable (Content?, URLResponse?, (any Error)?) -> Void
  ) -> CachedURLSessionTask {
    var unmetered = options
    unmetered.onMetrics = nil
    return CachedURLSessionTask(
      request, priority: options.priority,
      meter: LoadMeter(cache.configuration.clock, report: options.onMetrics),
      load: { [unmetered] in try await load($0, unmetered) }
    ) { content, response, error in
      guard let session = try? self.foundation.current().session else {
        return completion(content, response, error)
      }
      session.delegateQueue.addOperation { completion(content, response, error) }
    }
  }
}

import HTTPCaching

extension CacheExplanation {
  /// The explanation of a URL that no route of a gateway serves: the gateway answers without its cache.
  static func noRoute(for url: TargetURL) -> CacheExplanation {
    let path = url.path.prefix { $0 != "?" }
    return CacheExplanation(steps: [
      Step(
        "Which route serves the request?",
        "none: no route of the server has the host \(url.host) and the path \(path)", section: "",
        topic: .request),
      Step(
        "What is done?", "refuse: the client gets 404 Not Found, and no origin is asked",
        section: "RFC 9110 §15.5.5", topic: .decision),
    ])
  }
}

extension ExplanationJSON {
  /// The explanation of a URL that no route of a gateway serves.
  static func noRoute(for url: TargetURL) -> ExplanationJSON {
    let explanation = CacheExplanation.noRoute(for: url)
    var json = ExplanationJSON(explanation)
    json.decision = Decision(refusing: explanation.steps[0].answer, section: explanation.steps[1].section)
    return json
  }
}

public import HTTPTypes

extension CacheExplanation {
  /// Explains whether a response is stored (RFC 9111 §3): each requirement with its result; the last step is
  /// the decision, which names the first failed requirement.
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded.
  ///   - response: the head as it arrived.
  ///   - rules: the choices of the cache.
  ///   - now: the time when it arrived.
  public static func storage(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> CacheExplanation {
    var explanation = CacheExplanation()
    let rules = rules.resolved(for: request)
    let directives = ResponseDirectives(of: response, rules: rules)
    let facts = Freshness.facts(
      response: response, directives: directives, requestTime: now, responseTime: now, rules: rules)
    explanation.add("Which cache is it for?", "a \(rules.mode) one", section: "RFC 9111 §1")
    explanation.addOverrides(request, rules: rules)
    explanation.addEffects(on: response, to: request, rules: rules, now: now)
    explanation.addSource(directives, topic: .storing)
    let decision = Storability.decide(
      request: request, response: response, rules: rules, now: now)
    let question = StorageQuestion(request: request, response: response, rules: rules, now: now)
    explanation.addRequirements(of: question, decision: decision)
    explanation.addUse(of: question, facts: facts)
    let target = CacheKey.target(of: request) ?? ""
    if ClearSiteData.clearsCache(response, target: target, rules: rules) {
      let reason = StorageRefusal.clearsSite
      explanation.add("Does it clear the cache?", "yes, for its origin", section: reason.section)
      explanation.add("Is it stored?", "no: \(reason)", section: reason.section)
      return explanation
    }
    switch decision {
    case .store: explanation.add("Is it stored?", "yes", section: "RFC 9111 §3")
    case .doNotStore(let reason):
      explanation.add("Is it stored?", "no: \(reason)", section: reason.section)
    }
    return explanation
  }

  /// The explanation of a response that was not stored for a reason outside its head, or of which nothing
  /// else may be kept.
  public static func refusal(_ refusal: StorageRefusal) -> CacheExplanation {
    var explanation = CacheExplanation()
    explanation.add("Is it stored?", "no: \(refusal)", section: refusal.section)
    return explanation
  }

  /// Adds one requirement; `refusal` is the consequence if it fails.
  private mutating func check(
    _ question: String, _ values: String, section: String, refusal: StorageRefusal?
  ) {
    add(question, "\(refusal == nil ? "yes" : "no"): \(values)", section: refusal?.section ?? section)
  }

  /// Adds the requirements of §3, in the order of `Storability`.
  private mutating func addRequirements(of question: StorageQuestion, decision: StorageDecision) {
    let (request, response) = (question.request, question.response)
    let (directives, rules) = (question.directives, question.rules)
    let code = response.status.code
    // Check the method first; the further requirements for POST follow below.
    let isRefused =
      request.method != .post && decision == .doNotStore(.method(request.method))
    check(
      "Is the method understood?", "\(request.method)", section: "RFC 9110 §9.2.3",
      refusal: isRefused ? .method(request.method) : nil)
    check("Is the status final?", "\(code)", section: "RFC 9111 §3", refusal: code >= 200 ? nil : .interim)
    let contentRange = code == 206 ? Excerpt.fields([.contentRange], of: response.headerFields) : nil
    check(
      "Is it a response that can be stored?",
      "status \(code)" + (contentRange.map { ", \($0)" } ?? ""),
      section: code == 206 ? "RFC 9111 §3.3" : "RFC 9111 §3",
      refusal: code == 206
        ? PartialContent.refusal(request: request, response: response)
        : StatusCaching.isNeverStored(code) ? .statusNotStored(code) : nil)
    if request.method == .get, RequestFeatures(request.headerFields).contains(.content) {
      check(
        "Is the request all in its target and fields?", "it has content", section: "RFC 9110 §9.3.1",
        refusal: .content(.undefinedSemantics(.get)))
    }
    if rules.isOverridden {
      check(
        "Do the overrides allow it?", "what the last of them says", section: "",
        refusal: rules.allowsUse(of: response) ? nil : .override)
    }
    if rules.refusesClientErrors {
      let mayComeFromFields = StatusCaching.mayComeFromFields(code)
      check(
        "Is it no error that fields may cause?", "status \(code)", section: "RFC 9110 §15.5",
        refusal: mayComeFromFields ? .clientError(code) : nil)
    }
    let requestSaysNoStore = RequestDirectives(request.headerFields).noStore
    check(
      "Does the request allow it?", requestSaysNoStore ? "no-store" : "no no-store",
      section: "RFC 9111 §5.2.1.5", refusal: requestSaysNoStore ? .requestNoStore : nil)
    let mustUnderstand = directives.flags.contains(.mustUnderstand)
    let liftsNoStore = directives.flags.liftsNoStore
    let isUnderstood = !mustUnderstand || StatusCaching.isUnderstood(code)
    check(
      "Is the status understood, if it must be?",
      mustUnderstand ? "\(code), with must-understand" : "no must-understand", section: "RFC 9111 §5.2.2.3",
      refusal: isUnderstood ? nil : .statusNotUnderstood(code))
    check(
      "Does the response allow it?",
      !directives.noStore
        ? "no no-store" : liftsNoStore ? "must-understand goes before no-store" : "no-store",
      section: "RFC 9111 §5.2.2.5",
      refusal: directives.noStore && !liftsNoStore ? Storability.noStore(response, rules: rules) : nil)
    addSharing(of: question)
    addCookie(of: question)
    addCredentials(of: question)
    addCacheability(of: question)
  }

  private mutating func addSharing(of question: StorageQuestion) {
    let directives = question.directives
    guard question.rules.mode == .shared else {
      check("May this cache have it?", "it is private", section: "RFC 9111 §3", refusal: nil)
      return
    }
    check(
      "May a shared cache have it?",
      directives.private == .whole
        ? "private" : directives.private == .absent ? "no private" : "private for some fields only",
      section: "RFC 9111 §5.2.2.7", refusal: directives.private == .whole ? .privateInShared : nil)
    let isAuthorized = question.request.headerFields.contains(.authorization)
    let allowing = directives.flags.sharing.texts
    check(
      "May it be shared?",
      isAuthorized
        ? "Authorization in the request, and "
          + Excerpt.list(allowing, orElse: "none of public, must-revalidate and s-maxage")
        : "no Authorization in the request", section: "RFC 9111 §3.5",
      refusal: isAuthorized && !directives.flags.allowsSharingAuthorized ? .authorized : nil)
  }

  /// Adds the checks of `CookieSharing`; nothing if no cookie could be shared.
  private mutating func addCookie(of question: StorageQuestion) {
    let rules = question.rules
    let permitted = FieldHygiene.permitted(question.response, rules: rules)
    guard rules.mode == .shared, permitted.headerFields.contains(.setCookie) else { return }
    let isForbidden = CookieSharing.isForbidden(permitted, rules: rules, now: question.now)
    check(
      "May its cookie be given to all?",
      !isForbidden
        ? rules.keepsSetCookie
          ? "Set-Cookie, with an explicit lifetime, public, or an override that allows it"
          : "Set-Cookie, which is not stored, with public or an override that allows it"
        : rules.refusesSetCookie
          ? "Set-Cookie, which the rules refuse"
          : rules.keepsSetCookie ? "Set-Cookie, and no explicit lifetime" : "Set-Cookie, and no public",
      section: "RFC 9111 §7.3", refusal: isForbidden ? .setCookie : nil)
  }

  /// Adds the check of `CredentialSharing`; nothing if there are no credentials.
  private mutating func addCredentials(of question: StorageQuestion) {
    let (request, rules) = (question.request, question.rules)
    guard rules.mode == .shared, CredentialSharing.hasCredentials(request) else { return }
    let isForbidden = CredentialSharing.isForbidden(
      question.response, directives: question.directives, to: request, rules: rules, now: question.now)
    check(
      "Is it for other users too?",
      isForbidden
        ? "Cookie or Authorization in the request, and neither a lifetime nor public nor no-cache"
        : "Cookie or Authorization in the request, and a lifetime, public or no-cache",
      section: "RFC 9111 §4.2.2",
      refusal: isForbidden ? .credentials : nil)
  }

  private mutating func addCacheability(of question: StorageQuestion) {
    let (directives, rules, now) = (question.directives, question.rules, question.now)
    let (code, fields) = (question.response.status.code, question.response.headerFields)
    let flags = directives.flags
    var allowing = flags.contains(.public) ? ["public"] : []
    if directives.permitsPrivateStoring(in: rules.mode) { allowing.append("private") }
    if directives.maxAge != nil, !flags.contains(.malformedMaxAge) { allowing.append("max-age") }
    if rules.mode == .shared, directives.sMaxAge != nil, !flags.contains(.malformedSMaxAge) {
      allowing.append("s-maxage")
    }
    if directives.obeysExpires, fields.date(.expires, relativeTo: now).time != nil {
      allowing.append("Expires")
    }
    if StatusCaching.isHeuristicallyCacheable(code) { allowing.append("status \(code)") }
    let isAllowed = Storability.allowsStoring(
      code: code, directives: directives, fields: fields, rules: rules, now: now)
    check(
      "Does anything make it cacheable?",
      Excerpt.list(
        allowing, orElse: "no public, no lifetime, and status \(code) is not cacheable by default"),
      section: "RFC 9111 §3", refusal: isAllowed ? nil : .notCacheable(status: code))
  }

  /// Adds this cache's own requirement beyond §3: that the response could ever be reused.
  private mutating func addUse(of question: StorageQuestion, facts: ReuseFacts) {
    let (request, response) = (question.request, question.response)
    let (rules, now) = (question.rules, question.now)
    let fields = response.headerFields
    if request.method == .post {
      let answersGet = Storability.answersGet(
        request: request, response: response, facts: facts)
      check(
        "Does it answer a later GET?", "it needs a lifetime, and Content-Location with the target",
        section: "RFC 9110 §9.3.3", refusal: answersGet ? nil : .method(.post))
    }
    check(
      "Can it be selected again?", Excerpt.fields([.vary], of: fields) ?? "no Vary",
      section: "RFC 9111 §4.1", refusal: Vary.hasAny(response, rules: rules) ? .varyAny : nil)
    add(
      "How long is it fresh?",
      "\(facts.freshnessLifetime) s, from "
        + Self.origin(
          of: facts, question.directives, status: response.status.code, fields: fields, responseTime: now,
          rules: rules),
      section: Self.section(facts.lifetimeSource))
    add(
      "How old is it on arrival?",
      Excerpt.list(
        ["\(facts.correctedInitialAge) s"]
          + [Excerpt.fields([.date, .age], of: fields)].compactMap { $0 }, orElse: ""),
      section: "RFC 9111 §4.2.3")
    let validators = Excerpt.fields([.eTag, .lastModified], of: fields)
    check(
      "Can it be used again, fresh, stale or validated?",
      Validation.hasValidator(fields, now: now)
        ? "validated by \(validators ?? "")"
        : "no validator, lifetime \(facts.freshnessLifetime) s, age \(facts.correctedInitialAge) s",
      section: "RFC 9111 §3",
      refusal: Storability.isEverReusable(facts: facts, fields: fields, rules: rules, now: now)
        ? nil : .neverReusable)
  }
}

/// The values that the requirements of §3 read.
private struct StorageQuestion {
  let request: HTTPRequest
  let response: HTTPResponse
  let directives: ResponseDirectives
  /// The rules for the first reading of the target that refuses the response; those of the target if none does.
  let rules: CacheRules
  let now: Timestamp

  init(request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp) {
    self.rules =
      ([rules] + rules.otherReadings).first {
        Storability.refusal(request: request, response: response, rules: $0, now: now) != nil
      } ?? rules
    self.request = request
    self.response = response
    self.now = now
    directives = ResponseDirectives(of: response, rules: self.rules)
  }
}

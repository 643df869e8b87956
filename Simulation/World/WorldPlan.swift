import HTTPCacheSemantics

/// The world that a seed makes.
struct WorldPlan: Sendable {
  enum Stores: Sendable { case memory, tiered }
  enum Hook: Sendable { case none, immediate, suspending }
  enum Tags: Sendable { case strong, strongAndDate, weakShared, dateOnly, none }
  enum Varying: Sendable { case never, always, fromVersion(Int) }

  enum Confirmation: Sendable { case whole, date, bare }

  struct Target: Sendable {
    var path: String
    var tags = Tags.strong
    var varying = Varying.always
    /// Seconds of `max-age`.
    var lifetime: Int64 = 1_000
    var otherDirectives = ""
    /// Every version whose number this divides is `no-store`, or `private` in a shared cache; 0 is none.
    var unstorableEvery = 0
    /// Every version whose number this divides is a 404; 0 is none.
    var goneEvery = 0
    var isInGroup = false
    /// The least number of bytes of a body.
    var length = 40
    var chunk = 16
    var tellsLength = true
    var acceptsRanges = false
    /// Whether every third version is one representation for all forms.
    var sharesThirdVersion = false
    /// Which validators of the representation a 304 has.
    var confirmation = Confirmation.whole

    /// Whether responses have `Last-Modified`, which all forms share.
    var hasDates: Bool { tags == .strongAndDate || tags == .weakShared || tags == .dateOnly }
  }

  var stores = Stores.memory
  var processes = 1
  /// The tier that the processes share; nil for processes that share a directory, or nothing.
  var fleet: FleetPlan?
  /// Whether the script begins when each process of the fleet is connected.
  var joinsFirst = false
  var partitions = [""]
  var mode = CacheMode.private
  var hook = Hook.none
  var removesGone = false
  var targets: [Target] = []
  var memoryCapacity: Int64 = 1 << 20
  var diskCapacity: Int64 = 1 << 20
  var clientFaults = false
  var originFaults = 0.0
  var storeFaults = 0.0
  var hasTimeouts = false
  var jumps = false
  var operations: [Operation] = []
  var weights = Scheduler.Weights()

  /// Whether only the callers themselves can keep an answer from them.
  var isFaultless: Bool { originFaults == 0 && storeFaults == 0 && !hasTimeouts }
}

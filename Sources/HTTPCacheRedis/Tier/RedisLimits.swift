#if Redis
  /// The deadlines of a tier's functions.
  struct RedisLimits: Sendable {
    /// Of opening a connection, with name resolution, TLS and credentials.
    var connection = Duration.milliseconds(500)
    /// Of asking for the layout of a cluster.
    var layout = Duration.milliseconds(250)
    /// Of look-ups and locks.
    var question = Duration.milliseconds(50)
    /// Of changes, reports, lists of nodes, and each step of a wipe; and what is added to the wait for
    /// changes, for each page of the log.
    var change = Duration.milliseconds(250)
    /// Of reading the table and the first page of the log, and of each further page.
    var state = Duration.seconds(1)
    /// Of writing a part of a body.
    var part = Duration.seconds(1)
    /// Without a byte of a body that is read.
    var progress = Duration.milliseconds(250)
    /// Of publishing, and of reading parts of a body, in all.
    var publication = Duration.seconds(5)
  }
#endif

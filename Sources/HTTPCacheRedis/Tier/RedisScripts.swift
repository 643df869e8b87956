#if Redis
  import Crypto

  /// A script that a server runs in one step.
  struct RedisScript: Sendable {
    let source: String
    /// The SHA-1 of the source, in hex digits, by which a server knows it.
    let digest: String

    init(_ source: String) {
      self.source = source
      digest = Insecure.SHA1.hash(data: Array(source.utf8)).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    }
  }

  /// The scripts: only what must happen in one step. Comparisons are of digits alone, because Lua compares other text by
  /// the server's locale.
  enum RedisScripts {
    /// Publishes a response.
    ///
    /// Keys: the variants, the lock, the body. Arguments: field, date, ticket, id of the body, payload, lifetime in ms,
    /// token of the lock or nothing, number of parts, most variants. The header of a field is described by
    /// `RedisRecord`.
    ///
    /// Replies with 1 and the ids of bodies that are found no longer, with -1 if a more recent response stays, with -2 if
    /// a part is missing.
    static let publish = RedisScript(
      """
      local token = ARGV[7]
      if token ~= '' then
        local held = redis.call('GET', KEYS[2])
        if held and string.match(held, '^(.*)|') == token then redis.call('DEL', KEYS[2]) end
      end
      if ARGV[8] ~= '0' and redis.call('HLEN', KEYS[3]) ~= tonumber(ARGV[8]) then return {-2} end
      local unused = {1}
      local function drop(value)
        local id = string.sub(value, 69, 84)
        if id ~= '0000000000000000' and id ~= ARGV[4] then unused[#unused + 1] = id end
      end
      local old = redis.call('HGET', KEYS[1], ARGV[1])
      if old then
        if ARGV[2] ~= '000000000000' and string.sub(old, 2, 13) > ARGV[2] and string.sub(old, 14, 53) >= ARGV[3] then
          return {-1}
        end
        drop(old)
      elseif redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[9]) then
        local all = redis.call('HGETALL', KEYS[1])
        local first = 1
        for i = 3, #all, 2 do
          if string.sub(all[i + 1], 54, 68) < string.sub(all[first + 1], 54, 68) then first = i end
        end
        drop(all[first + 1])
        redis.call('HDEL', KEYS[1], all[first])
      end
      local now = redis.call('TIME')
      local published = string.format('%015.0f', now[1] * 1000 + math.floor(now[2] / 1000))
      redis.call('HSET', KEYS[1], ARGV[1], '1' .. ARGV[2] .. ARGV[3] .. published .. ARGV[4] .. ARGV[5])
      local lifetime = tonumber(ARGV[6])
      if redis.call('PTTL', KEYS[1]) < lifetime then redis.call('PEXPIRE', KEYS[1], ARGV[6]) end
      if ARGV[8] ~= '0' and redis.call('PTTL', KEYS[3]) < lifetime then redis.call('PEXPIRE', KEYS[3], ARGV[6]) end
      return unused
      """)

    /// Adds a change to the log. A change must be possible without memory.
    ///
    /// Keys: the table, the log. Arguments: uid, kind, selection, position or `*`, most entries, and the classes.
    ///
    /// Positions only rise, also after the log was lost and the table was not, and under a clock that was set back. A log
    /// that was lost begins with an entry of an unknown kind, which each version takes as an invalidation of everything:
    /// otherwise a new log would hide the gap from a node that was away.
    static let change = RedisScript(
      """
      #!lua flags=allow-oom
      local function numbers(id)
        local time, number = string.match(id or '', '^(%d+)-(%d+)$')
        return tonumber(time or 0), tonumber(number or 0)
      end
      local last = redis.call('HGET', KEYS[1], 'last')
      local time, number = numbers(last or redis.call('HGET', KEYS[1], 'i0'))
      local function following()
        local now = redis.call('TIME')
        if time < now[1] * 1000 + math.floor(now[2] / 1000) then return '*' end
        return string.format('%.0f-%.0f', time, number + 1)
      end
      local first = last and redis.pcall('XRANGE', KEYS[2], '-', '+', 'COUNT', '1')
      if first and not first.err and #first == 0 then
        local gap = redis.pcall('XADD', KEYS[2], following(), 'u', 'gap', 'k', 'gap', 's', '')
        if type(gap) == 'table' and gap.err then return gap end
        redis.call('HSET', KEYS[1], 'last', gap, 'i0', gap)
        time, number = numbers(gap)
      end
      local wanted = ARGV[4]
      local wantedTime, wantedNumber = numbers(wanted)
      if wanted == '*' or wantedTime < time or (wantedTime == time and wantedNumber <= number) then
        wanted = following()
      end
      local function add(id)
        return redis.pcall('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], id, 'u', ARGV[1], 'k', ARGV[2], 's', ARGV[3])
      end
      local id = add(wanted)
      if type(id) == 'table' and id.err and wanted ~= '*' then id = add('*') end
      if type(id) == 'table' and id.err then return id end
      redis.call('HSET', KEYS[1], 'last', id)
      for i = 6, #ARGV do redis.call('HSET', KEYS[1], 'i' .. ARGV[i], id) end
      return id
      """)

    /// Makes the random word of the table if there is none, and replies with the word. Without it, a server without memory
    /// would keep each node from connecting.
    ///
    /// A table without the word may have lost its positions, while responses are left: a new word raises the class of
    /// everything to the time before this millisecond, so that all later changes are above it.
    ///
    /// Key: the table. Argument: the word.
    ///
    /// Replies with the word, and with the position of the class of everything.
    static let nonce = RedisScript(
      """
      #!lua flags=allow-oom
      if redis.call('HSETNX', KEYS[1], 'nonce', ARGV[1]) == 1 then
        local now = redis.call('TIME')
        local before = now[1] * 1000 + math.floor(now[2] / 1000) - 1
        redis.call('HSETNX', KEYS[1], 'i0', string.format('%.0f-0', before))
      end
      return {redis.call('HGET', KEYS[1], 'nonce'), redis.call('HGET', KEYS[1], 'i0')}
      """)

    /// Tells how far a node has applied the log. A node must be known without memory: purges wait for the nodes that are
    /// known.
    ///
    /// Key: the nodes. Arguments: the name of the node, its position.
    ///
    /// Replies with the number of nodes.
    static let report = RedisScript(
      """
      #!lua flags=allow-oom
      local now = redis.call('TIME')
      local seen = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '|' .. seen)
      return redis.call('HLEN', KEYS[1])
      """)

    /// Takes over, renews, refuses or frees a lock.
    ///
    /// Key: the lock. Arguments: what to do (`take`, `renew`, `refuse`, `free`), token, duration in ms, new value,
    /// overtaken ticket.
    ///
    /// Replies with 1 if it was done, and with the value of the lock otherwise.
    static let lock = RedisScript(
      """
      local held = redis.call('GET', KEYS[1])
      local isOwn = held and string.match(held, '^(.*)|') == ARGV[2]
      if ARGV[1] == 'take' then
        if held and not isOwn and string.match(held, '|([^|]*)$') ~= ARGV[5] then return held end
        redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[3])
        return 1
      end
      if not isOwn then return held or 0 end
      if ARGV[1] == 'renew' then redis.call('PEXPIRE', KEYS[1], ARGV[3])
      elseif ARGV[1] == 'refuse' then redis.call('SET', KEYS[1], '-', 'PX', ARGV[3])
      else redis.call('DEL', KEYS[1]) end
      return 1
      """)
  }
#endif

// The global environment of a script: JavaScript that runs once in the engine.
import { bundleLimits } from '#bundle/format/limits.ts'

const membersMax = bundleLimits.membersPerPoolMax

/**
 * A piece of the engine's memory that both sides write: lists of numbers pass through it without a
 * conversion of each value. Offsets in octets; our side finds it by `Mark`.
 */
export const Exchange = {
  Mark: 0,
  /** Uint32, part of the question: the number of candidates. */
  Count: 16,
  /** Uint32, part of the answer: entries in `Order`. */
  Named: 20,
  /** Float64, three a candidate: weight, health_score, rtt_ms. */
  Values: 24,
  /** Uint32 by candidate: its place among the pool's members. */
  Places: 24 + membersMax * 24,
  /** Uint32: places in `result`, in its order, possibly repeated. */
  Order: 24 + membersMax * 28,
  Bytes: 24 + membersMax * 32,
} as const

/** Words that occur nowhere else in a fresh memory. */
export const exchangeMark = Uint32Array.of(0x67736c62, 0x9e3779b9, 0x7f4a7c15, 0xf39cc060)

/** The fault that `read` reports, by its return value. */
export const resultFaults = [undefined, 'result is not set', 'result is no list'] as const
export const emptyResult = 'result names no candidate'

/**
 * Runs once in a fresh realm; its value is the list (build, put, read). Scripts cannot reach what
 * these functions use: they hold references of their own. `build` makes the members of a pool, all
 * that is constant between queries; `put` sets the globals, `read` inspects `result`. Time and
 * chance are inputs, so that an answer can be replayed: `Date` stands still at `now`, in UTC, and
 * `Math.random` continues a seed.
 */
export const scriptPrelude = `(() => {
  const world = globalThis, parse = JSON.parse, RealDate = Date, construct = Reflect.construct
  const imul = Math.imul
  const exchange = new ArrayBuffer(${Exchange.Bytes})
  const words = new Uint32Array(exchange, 0, ${Exchange.Values / 4})
  const values = new Float64Array(exchange, ${Exchange.Values}, ${membersMax * 3})
  const places = new Uint32Array(exchange, ${Exchange.Places}, ${membersMax})
  const order = new Uint32Array(exchange, ${Exchange.Order}, ${membersMax})
  words.set([${exchangeMark.join()}])
  let members = []
  let placeOf = { __proto__: null }
  let state = 0
  let millis = 0
  function StoppedDate(...parts) {
    if (new.target === undefined) return new RealDate(millis).toUTCString()
    const given = parts.length < 2 ? parts : [RealDate.UTC(...parts)]
    return construct(RealDate, parts.length === 0 ? [millis] : given, new.target)
  }
  StoppedDate.prototype = RealDate.prototype
  StoppedDate.prototype.constructor = StoppedDate
  StoppedDate.now = () => millis
  StoppedDate.UTC = RealDate.UTC
  StoppedDate.parse = RealDate.parse
  world.Date = StoppedDate
  const dates = RealDate.prototype
  for (const part of ['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
    dates['get' + part] = dates['getUTC' + part]
    dates['set' + part] = dates['setUTC' + part]
  }
  dates.getDay = dates.getUTCDay
  dates.toString = dates.toUTCString
  dates.getTimezoneOffset = () => 0
  delete world.performance
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = imul(state ^ (state >>> 15), 1 | state)
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const build = (text) => {
    members = parse(text)
    placeOf = { __proto__: null }
    for (let i = 0; i < members.length; i++) placeOf[members[i].ip] ??= i
  }
  const put = (text, seed) => {
    const count = words[${Exchange.Count / 4}]
    const candidates = []
    for (let i = 0, at = 0; i < count; i++, at += 3) {
      const candidate = members[places[i]]
      candidate.weight = values[at]
      candidate.health_score = values[at + 1]
      candidate.rtt_ms = values[at + 2]
      candidates[i] = candidate
    }
    const { client, qname, qtype, now } = parse(text)
    world.candidates = candidates
    world.client = client
    world.qname = qname
    world.qtype = qtype
    world.now = now
    state = seed
    millis = now * 1000
  }
  const read = () => {
    words[${Exchange.Named / 4}] = 0
    if (typeof result === 'undefined') return 1
    if (typeof result !== 'object' || result === null) return 2
    const count = result.length
    let named = 0
    for (let i = 0; i < count && named < ${membersMax}; i++) {
      const item = result[i]
      if (typeof item !== 'string' || item.length > 63) continue
      const place = placeOf[item]
      if (place !== undefined) order[named++] = place
    }
    words[${Exchange.Named / 4}] = named
    return 0
  }
  return [build, put, read]
})()`

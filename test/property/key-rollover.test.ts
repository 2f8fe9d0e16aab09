// Keys roll, clocks jump, parents are late, two nodes decide: no resolver ever finds a zone bogus,
// whatever it has cached.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foreignRecord, keyUses, KeyUse, noTimes } from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyRole } from '#dns/dnssec/key-record.ts'
import { beginRoll, dsText, look, roll, sayDsSeen } from '#dns/dnssec/rollover.ts'
import type { Looked, ParentView, RollPolicy, WantedKey } from '#dns/dnssec/rollover.ts'
import { longestTtls } from '#dns/dnssec/served-ttls.ts'
import type { ZoneTtls } from '#dns/dnssec/served-ttls.ts'
import { keyTag } from '#dns/dnssec/zone-key.ts'
import { laneCount } from '#test/support/lane.ts'
import { RollWorld } from '#test/support/dns/roll-world.ts'

const minute = 60_000
const hour = 60 * minute
const stepMs = 10 * minute
const firstTtls: ZoneTtls = { keyTtlMs: 20 * minute, longestTtlMs: hour }
const basePolicy: RollPolicy = {
  ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: null },
  ...{ propagationMs: 5 * minute, parentMs: 3 * hour },
}

interface Event {
  readonly afterSteps: number
  readonly what:
    | { readonly kind: 'jump'; readonly node: number; readonly byMs: number }
    | { readonly kind: 'roll'; readonly isEmergency: boolean }
    | { readonly kind: 'policy'; readonly policy: Partial<RollPolicy> }
    | { readonly kind: 'sleep'; readonly node: number; readonly steps: number }
    | { readonly kind: 'parent'; readonly parent: Parent }
    | { readonly kind: 'lost'; readonly node: number; readonly isLost: boolean }
    | { readonly kind: 'ttls'; readonly ttls: ZoneTtls }
    | { readonly kind: 'say'; readonly node: number }
    | { readonly kind: 'foreign' }
}
/** What a parent does with what the zone says: replaces its DS, adds one, or nothing. */
type Parent = 'follows' | 'adds' | 'sleeps'

const jumps = [-24 * hour, 24 * hour, -hour, 365 * 24 * hour, -365 * 24 * hour, 40 * minute, 30_000]
const event: fc.Arbitrary<Event> = fc.record({
  afterSteps: fc.oneof(fc.nat(12), fc.nat(100)),
  what: fc.oneof(
    fc.record({
      kind: fc.constant('jump' as const),
      node: fc.nat(1),
      byMs: fc.constantFrom(...jumps),
    }),
    fc.record({ kind: fc.constant('roll' as const), isEmergency: fc.boolean() }),
    fc.record({
      kind: fc.constant('policy' as const),
      policy: fc.constantFrom<Partial<RollPolicy>>(
        { algorithm: 15 },
        { algorithm: 13 },
        { model: 'kskzsk' },
        { model: 'csk' },
        { zskMs: 12 * hour },
        { kskMs: 30 * hour },
      ),
    }),
    fc.record({
      kind: fc.constant('sleep' as const),
      node: fc.nat(1),
      steps: fc.nat(60),
    }),
    fc.record({
      kind: fc.constant('parent' as const),
      parent: fc.constantFrom<Parent>('follows', 'adds', 'sleeps'),
    }),
    fc.record({ kind: fc.constant('lost' as const), node: fc.nat(1), isLost: fc.boolean() }),
    fc.record({ kind: fc.constant('say' as const), node: fc.nat(1) }),
    fc.record({ kind: fc.constant('foreign' as const) }),
    fc.record({
      kind: fc.constant('ttls' as const),
      ttls: fc.constantFrom<ZoneTtls>(
        { keyTtlMs: 10 * hour, longestTtlMs: 10 * hour },
        { keyTtlMs: minute, longestTtlMs: 30 * hour },
        { keyTtlMs: minute, longestTtlMs: minute },
      ),
    }),
  ),
})

interface Node {
  offsetMs: number
  looked: Looked
  /** The version of the records that it has written or seen. */
  version: number
  sleepsUntil: number
  /** What its parent said when it asked last: each node asks at looks of its own. */
  view: ParentView | null
  isLost: boolean
}

class Run {
  readonly world = new RollWorld({ ...firstTtls, ...basePolicy })
  records: readonly KeyRecord[] = []
  policy = basePolicy
  ttls = firstTtls
  parent: Parent = 'follows'
  ds: readonly string[] = []
  version = 0
  made = 0
  readonly nodes: Node[]

  constructor(nodes: number) {
    this.nodes = Array.from({ length: nodes }, () => ({
      ...{
        offsetMs: 0,
        looked: { atMs: null, heldUntilMs: 0, ttls: [] },
        version: 0,
        sleepsUntil: 0,
      },
      ...{ view: null, isLost: false },
    }))
  }

  make({ role, algorithm }: WantedKey, createdMs: number): KeyRecord {
    const flags = role === 'zsk' ? 256 : 257
    const rdata = Uint8Array.of(flags >> 8, flags & 0xff, 3, algorithm, 0, this.made++, 0, 0)
    return {
      ...{ zone: 'example.org.', tag: keyTag(rdata), algorithm, flags, publicKey: rdata, role },
      ...{ secret: new Uint8Array(0), times: { ...noTimes, createdMs } },
    }
  }

  write(node: Node, records: readonly KeyRecord[]): void {
    if (records === this.records) return
    this.records = records
    node.version = ++this.version
  }

  act(node: Node, step: number): void {
    const realMs = 1e12 + step * stepMs
    const isParentFresh = (step + 3 * this.nodes.indexOf(node)) % 7 === 0
    if (isParentFresh) node.view = node.isLost ? null : { onAll: this.ds, onAny: this.ds }
    const parent = node.view
    const nowMs = realMs + node.offsetMs
    const { policy, ttls } = this
    const isOthers = node.version !== this.version
    node.version = this.version
    const { records } = this
    node.looked = look(node.looked, { records, parent, policy, ...ttls, nowMs }, isOthers)
    for (let again = 0; again < 3; again++) {
      const { heldUntilMs } = node.looked
      const known = longestTtls(node.looked.ttls)
      const seen = { parent, isParentFresh, policy, ...known, nowMs, heldUntilMs }
      const rolled = roll({ ...seen, records: this.records })
      const made = rolled.wanted.map((one) => this.make(one, nowMs))
      this.write(node, made.length === 0 ? rolled.records : [...rolled.records, ...made])
      if (made.length === 0) break
    }
  }

  /** A person says what is true, of the key that has its DS alone at a parent that is not heard. */
  say(node: Node, realMs: number): void {
    if (!node.isLost) return
    node.view = null
    const one = this.records.find((key) => this.ds.length === 1 && this.ds[0] === dsText(key))
    const said = one === undefined ? null : sayDsSeen(this.records, one.tag, realMs + node.offsetMs)
    if (said?.ok === true) this.write(node, said.value)
  }

  /** A person brings the KSK of another server, or takes it away. Both have one algorithm. */
  bringForeign(node: Node, realMs: number): void {
    const own = this.records.filter(({ secret }) => secret !== null)
    if (own.length < this.records.length) {
      this.write(node, own)
    } else if (own.length > 0 && own.every(({ algorithm }) => algorithm === 13)) {
      const { publicKey } = this.make({ role: 'ksk', algorithm: 13 }, 0)
      this.write(node, [...own, foreignRecord('example.org.', publicKey, realMs + node.offsetMs)])
    }
  }

  /** Two servers do not roll to another algorithm each by itself. */
  keepPolicy(change: Partial<RollPolicy>): void {
    const hasForeign = this.records.some(({ secret }) => secret === null)
    if (!hasForeign || change.algorithm === undefined) this.policy = { ...this.policy, ...change }
  }

  /** Tags of keys of which nothing says what comes next. Two lead, and need nothing. */
  keysWithoutStep(node: Node, step: number): number[] {
    const nowMs = 1e12 + step * stepMs + node.offsetMs
    const { policy, ttls, records } = this
    const seen = { parent: node.view, isParentFresh: false, nowMs, heldUntilMs: 0 }
    const { waiting } = roll({ ...seen, ...ttls, policy, records })
    const own = records.filter(({ times }) => times.removedMs === null || times.retiredMs === null)
    const leads = (['ksk', 'zsk'] as const).map((role) => own.findLast((one) => one.role === role))
    return own
      .filter((one) => !leads.includes(one) && !waiting.some(({ tag }) => tag === one.tag))
      .map(({ tag }) => tag)
  }

  begin(node: Node, realMs: number, isEmergency: boolean, role: KeyRole | null = null): void {
    const begun = beginRoll(this.records, this.policy, { role, isEmergency })
    if (!begun.ok) return
    const made = begun.value.map((one) => this.make(one, realMs + node.offsetMs))
    this.write(node, [...this.records, ...made])
  }

  delegate(step: number): void {
    const wanted = keyUses(this.records)
      .filter(({ use }) => (use & KeyUse.InCds) !== 0)
      .map(({ record }) => dsText(record))
    if (this.parent !== 'sleeps' && wanted.length > 0 && step % 5 === 0) {
      const isNew = wanted.some((one) => !this.ds.includes(one))
      this.ds = this.parent === 'adds' && isNew ? [...this.ds, ...wanted] : wanted
    }
  }
}

const histories = fc.record({
  nodes: fc.constantFrom(1, 1, 2),
  split: fc.boolean(),
  foreignAt: fc.option(fc.nat(80)),
  events: fc.array(event, { maxLength: 10 }),
})

test('no resolver finds a zone bogus, whatever it has cached', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(histories, ({ nodes, split, foreignAt, events }) => {
      const run = new Run(nodes)
      if (split) run.policy = { ...run.policy, model: 'kskzsk' }
      let step = 0
      const walk = (steps: number): void => {
        for (const end = step + steps; step < end; step++) {
          const realMs = 1e12 + step * stepMs
          for (const node of run.nodes) if (node.sleepsUntil <= step) run.act(node, step)
          if (step === foreignAt) run.bringForeign(run.nodes[0]!, realMs)
          run.world.show(run.records, realMs)
          run.delegate(step)
          run.world.delegate(run.ds, realMs)
          expect(run.world.bogus(realMs)).toBeUndefined()
        }
      }
      walk(60)
      for (const { afterSteps, what } of events) {
        const node = run.nodes[0]!
        if (what.kind === 'jump') run.nodes[what.node % nodes]!.offsetMs += what.byMs
        if (what.kind === 'roll') run.begin(node, 1e12 + step * stepMs, what.isEmergency)
        if (what.kind === 'policy') run.keepPolicy(what.policy)
        if (what.kind === 'foreign') run.bringForeign(node, 1e12 + step * stepMs)
        if (what.kind === 'parent') run.parent = what.parent
        if (what.kind === 'ttls') {
          run.ttls = what.ttls
          run.world.keep({ ...what.ttls, ...basePolicy }, 1e12 + step * stepMs)
          // Each node sees them: one that sleeps while they are long knows nothing of them.
          for (const one of run.nodes) one.sleepsUntil = step
          walk(1)
        }
        if (what.kind === 'lost') run.nodes[what.node % nodes]!.isLost = what.isLost
        if (what.kind === 'say') run.say(run.nodes[what.node % nodes]!, 1e12 + step * stepMs)
        if (what.kind === 'sleep') {
          run.nodes[what.node % nodes]!.sleepsUntil = step + what.steps
        }
        walk(afterSteps)
      }
      walk(40)
    }),
    { numRuns: laneCount(1_500, 60) },
  )
})

test('after emergencies on top of each other each key has a next step, and ends', () => {
  const role = fc.constantFrom<KeyRole | null>('zsk', 'ksk', null)
  const rolls = fc.array(fc.record({ role, afterSteps: fc.nat(60) }), { maxLength: 5 })
  const start = fc.record({ rolls, isDelegated: fc.boolean() })
  fc.assert(
    fc.property(start, ({ rolls: all, isDelegated }) => {
      const run = new Run(1)
      const node = run.nodes[0]!
      run.policy = { ...run.policy, model: 'kskzsk' }
      if (!isDelegated) run.parent = 'sleeps'
      let step = 0
      const walk = (steps: number): void => {
        for (const end = step + steps; step < end; step++) {
          run.act(node, step)
          run.delegate(step)
          expect(run.keysWithoutStep(node, step)).toEqual([])
        }
      }
      walk(80)
      for (const { role: which, afterSteps } of all) {
        run.begin(node, 1e12 + step * stepMs, true, which)
        walk(afterSteps)
      }
      walk(200)
      const inUse = run.records.filter(({ times }) => times.removedMs === null)
      const roles = inUse.map((one) => one.role)
      expect(roles.filter((one) => one === 'zsk')).toHaveLength(1)
      // Without a parent that takes its DS, an old KSK stays, and says so.
      if (isDelegated) expect(roles).toHaveLength(2)
    }),
    { numRuns: laneCount(300, 8) },
  )
})

/** The parent follows in one step and is asked in another: between them anything may happen. */
test('an algorithm that is taken back at any moment, heard or said, leaves no way out', () => {
  for (const isLost of [false, true]) {
    for (let back = 12; back < 52; back++) {
      const run = new Run(1)
      const node = run.nodes[0]!
      const bogus: string[] = []
      for (let step = 0; step < 300; step++) {
        const realMs = 1e12 + step * stepMs
        if (step === 80) {
          run.policy = { ...run.policy, algorithm: 15 }
          node.isLost = isLost
        }
        if (step === 80 + back) run.policy = { ...run.policy, algorithm: 13 }
        if (step % 3 === 0) run.say(node, realMs)
        run.act(node, step)
        run.world.show(run.records, realMs)
        run.delegate(step)
        run.world.delegate(run.ds, realMs)
        const why = run.world.bogus(realMs)
        if (why !== undefined) bogus.push(`back after ${back}, step ${step}: ${why}`)
      }
      expect(bogus.slice(0, 1)).toEqual([])
      const used = keyUses(run.records).filter(({ use }) => use !== 0)
      expect(used.map(({ use, record }) => [use, record.algorithm])).toEqual([[15, 13]])
    }
  }
})

test('a roll of two nodes ends when one has lost its parent, and keys change no more', () => {
  const run = new Run(2)
  const walk = (from: number, to: number): void => {
    for (let step = from; step < to; step++) {
      for (const node of run.nodes) run.act(node, step)
      run.delegate(step)
    }
  }
  walk(0, 80)
  run.begin(run.nodes[0]!, 1e12 + 80 * stepMs, false)
  walk(80, 84)
  run.nodes[1]!.isLost = true
  walk(84, 300)
  const { version } = run
  walk(300, 400)
  expect(keyUses(run.records).map(({ use }) => use)).toEqual([0, 15])
  expect(run.version).toBe(version)
})

test('a whole roll of each kind ends by itself where the parent follows', () => {
  for (const change of [{ algorithm: 15 }, { model: 'kskzsk' as const }, {}]) {
    const run = new Run(1)
    const node = run.nodes[0]!
    const first = (): readonly number[] => keyUses(run.records).map(({ use }) => use)
    const walk = (from: number, to: number): void => {
      for (let step = from; step < to; step++) {
        run.act(node, step)
        run.delegate(step)
      }
    }
    walk(0, 80)
    expect(first()).toEqual([15])
    if (Object.keys(change).length === 0) run.begin(node, 1e12 + 80 * stepMs, false)
    run.policy = { ...run.policy, ...change }
    walk(80, 240)
    expect(first().filter((use) => use !== 0)).toEqual('model' in change ? [13, 3] : [15])
  }
})

import { beforeEach, expect, test } from 'vitest'
import type { MemberHealth } from '#health/view/member-health.ts'
import { PeerPublisher } from '#health/view/peer-publisher.ts'
import { createMemoryPeerHealth } from '#state/memory/peer-health.ts'
import type { PeerUpdate } from '#state/ports/peer-health.ts'

const ipAddress = '192.0.2.1'
const owner = (memberUid: string) => ({ memberUid, ipAddress })

let nowMs: number
let members: Map<string, MemberHealth>
let updates: PeerUpdate[]
let isAway: boolean
let lines: string[]
let publisher: PeerPublisher

beforeEach(() => {
  nowMs = 1_000_000
  members = new Map()
  updates = []
  isAway = false
  lines = []
  const bus = createMemoryPeerHealth()
  bus.subscribe((update) => updates.push(update))
  const note = (_fields: object, message: string): void => void lines.push(message)
  publisher = new PeerPublisher({
    node: 'n1',
    site: 'fra1',
    peers: {
      ...bus,
      publish: (update) =>
        isAway ? Promise.reject(new Error('no connection')) : bus.publish(update),
    },
    local: { healthOf: (memberUid) => members.get(memberUid) },
    clock: { monotonicMs: () => nowMs, nowMs: () => nowMs },
    log: { info: note, warn: note, error: note },
  })
})

function set(memberUid: string, parts: Partial<MemberHealth> = {}): void {
  members.set(memberUid, {
    isProbed: true,
    healthy: true,
    score: 1,
    rttMs: 5,
    isWarming: false,
    warmupPasses: 0,
    knowledge: 'known',
    intervalMs: 10_000,
    reason: '',
    sinceMs: 0,
    lastCheckMs: 0,
    lastRttMs: 0,
    ...parts,
  })
  publisher.note([owner(memberUid)])
}

async function tick(count = 1): Promise<string[]> {
  updates.length = 0
  for (let i = 0; i < count; i++) {
    nowMs += 1_000
    await publisher.tick()
  }
  return updates.map(({ changed, withdrawn }) => {
    const uids = changed.map((one) => `${one.memberUid}${one.healthy ? '+' : '-'}`)
    return [...uids, ...withdrawn.map((one) => `${one.memberUid} gone`)].join()
  })
}

test('tells each change once, and only that it is alive every five seconds after', async () => {
  set('m1')
  set('m2')
  expect(await tick()).toEqual(['m1+,m2+'])
  expect(await tick(4)).toEqual([])
  expect(await tick()).toEqual([''])
  set('m2', { healthy: false })
  expect(await tick(2)).toEqual(['m2-'])
})

test('says nothing of members that it does not know, and takes back what it knew', async () => {
  set('m1')
  set('m2', { knowledge: 'unknown' })
  set('m3', { knowledge: 'stale' })
  expect(await tick()).toEqual(['m1+'])
  // Nobody notes that time has passed: a beat must not confirm it.
  members.set('m1', { ...members.get('m1')!, knowledge: 'stale' })
  expect(await tick(5)).toEqual(['m1 gone'])
  set('m1')
  expect(await tick()).toEqual(['m1+'])
  members.delete('m1')
  expect(await tick(5)).toEqual(['m1 gone'])
  expect(await tick(5)).toEqual([''])
})

test('sends so many at once and no more; the rest follow', async () => {
  for (let i = 0; i < 2_500; i++) set(`m${i}`)
  await tick(3)
  expect(updates.map(({ changed }) => changed.length)).toEqual([1_000, 1_000, 500])
})

test('keeps what the bus did not take, with its newest word, and complains once', async () => {
  isAway = true
  set('m1')
  set('gone')
  expect(await tick(3)).toEqual([])
  set('m1', { healthy: false })
  members.delete('gone')
  expect(await tick(3)).toEqual([])
  isAway = false
  expect(await tick()).toEqual(['m1-'])
  expect(lines).toEqual([
    'health cannot be told to the other nodes; it is tried again',
    'health is told to the other nodes again',
  ])
})

import { describe, expect, test } from 'vitest'
import type { PeerHealth, PeerUpdate, PeerVerdict } from '#state/ports/peer-health.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'
import { waitUntil } from '#test/support/wait-until.ts'

function verdict(node: string, memberUid: string, parts: Partial<PeerVerdict> = {}): PeerVerdict {
  const rest = { ipAddress: '192.0.2.1', healthy: true, score: 1, rttMs: 12.5, atMs: 1_000 }
  return { node, memberUid, ...rest, ...parts }
}

function update(node: string, parts: Partial<PeerUpdate> = {}): PeerUpdate {
  return { node, changed: [], withdrawn: [], atMs: 1_000, ...parts }
}

async function all(peers: PeerHealth): Promise<PeerVerdict[]> {
  const keyOf = (one: PeerVerdict): string => `${one.node} ${one.memberUid} ${one.ipAddress}`
  return [...(await peers.load())].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Without Redis there are no peers to hear from. */
const adapters = ephemeralAdapters.filter(([name]) => !name.includes('away'))

describe.each(adapters)('the health of peers in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('is loaded as it was published, by node, member and address', async () => {
    const peers = store().ports.peerHealth
    expect(await all(peers)).toEqual([])
    const [a1, a2, b1] = [verdict('a', 'm1'), verdict('a', 'm2'), verdict('b', 'm1')]
    const moved = verdict('b', 'm1', { ipAddress: '2001:db8::1', healthy: false, score: 0 })
    await peers.publish(update('a', { changed: [a1, a2] }))
    await peers.publish(update('b', { changed: [b1, moved] }))
    expect(await all(peers)).toEqual([a1, a2, b1, moved])
  })

  test('a newer word replaces, a withdrawn one is gone, a stranger is passed over', async () => {
    const peers = store().ports.peerHealth
    await peers.publish(update('a', { changed: [verdict('a', 'm1'), verdict('a', 'm2')] }))
    const down = verdict('a', 'm1', { healthy: false, atMs: 2_000 })
    const withdrawn = [
      { memberUid: 'm2', ipAddress: '192.0.2.1' },
      { memberUid: 'm9', ipAddress: '192.0.2.9' },
    ]
    await peers.publish(update('a', { changed: [down], withdrawn, atMs: 2_000 }))
    expect(await all(peers)).toEqual([down])
  })

  test('a sign of life confirms what its node said, and no other', async () => {
    const peers = store().ports.peerHealth
    await peers.publish(update('a', { changed: [verdict('a', 'm1')] }))
    await peers.publish(update('b', { changed: [verdict('b', 'm1')] }))
    await peers.publish(update('a', { atMs: 9_000 }))
    expect((await all(peers)).map(({ node, atMs }) => [node, atMs])).toEqual([
      ['a', 9_000],
      ['b', 1_000],
    ])
  })

  test('subscribers hear every update, until they leave', async () => {
    const peers = store().ports.peerHealth
    const heard: PeerUpdate[] = []
    const leave = peers.subscribe((one) => heard.push(one))
    const changed = [verdict('a', 'm1', { isWarming: true })]
    const first = update('a', { site: 'fra1', changed })
    await peers.publish(first)
    await waitUntil('the update to arrive', () => heard.length > 0)
    leave()
    await peers.publish(update('b'))
    expect(heard).toEqual([first])
  })
})

// The ladder of the rum filter: the network's measurements, else round trips, else the first.
import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Chain } from '#routing/chain/chain.ts'
import { createEnvironment, noRoutingTables } from '#routing/choose/environment.ts'
import { rum } from '#routing/ways/rum.ts'
import { rumMembers, wordsOfUid } from '#routing/rum/targets.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { bundleOf, member, pool, service, uid, zone } from '#test/support/bundle-models.ts'

const measured = [1, 2, 3].map((number) =>
  member(`192.0.2.${number}`, { uid: uid(number), rumUrl: 'https://m.example.org/' }),
)
const bundle = bundleOf({
  zones: [zone('example.org.')],
  pools: [pool(1, measured)],
  services: [service(1, 'www.example.org.', { filterChain: ['rum'], pool: 0 })],
})
const uids = rumMembers(bundle, 'www.example.org.').map((member) => wordsOfUid(bundle, member))

interface Row {
  /** Milliseconds to members 0 to 2 from the client's network, another, and this node; 0: none. */
  readonly here?: readonly number[]
  readonly elsewhere?: readonly number[]
  readonly roundTripMs?: readonly number[]
  /** Members that are candidates. */
  readonly candidates?: readonly number[]
}

function choose({ here = [], elsewhere = [], roundTripMs = [], candidates = [0, 1, 2] }: Row) {
  const store = new RumStore({ nowMs: () => 0, monotonicMs: () => 0 })
  const from = (address: Uint8Array, samples: readonly number[]): void =>
    samples.forEach((ms, i) => ms > 0 && store.record(address, uids[i]!, ms))
  const client = Uint8Array.of(198, 51, 100, 7)
  from(client, here)
  from(Uint8Array.of(203, 0, 113, 9), elsewhere)
  const state = createRoutingState(bundle, 1)
  state.memberRttMs.set(roundTripMs)
  const chain = new Chain(new Random(1))
  chain.adopt(bundle, state)
  chain.client.set(client, 0, 4)
  chain.load(0, false)
  chain.members.set(candidates)
  chain.count = candidates.length
  rum.bind(createEnvironment(bundle, { ...noRoutingTables, rum: store.buffer }, null), '')(chain)
  return [chain.members[0], chain.scope]
}

test.each<[string, Row, number, number]>([
  ['the lowest latency wins', { here: [30, 10, 20] }, 1, 24],
  ['round trips do not matter then', { here: [30, 10, 20], roundTripMs: [1, 0, 0] }, 1, 24],
  ['one measured candidate is enough', { here: [0, 0, 900] }, 2, 24],
  ['what is no candidate does not count', { here: [30, 10, 20], candidates: [0, 2] }, 2, 24],
  ['else the round trip', { elsewhere: [30, 10, 20], roundTripMs: [0, 0, 7] }, 2, 24],
  ['else the first', { elsewhere: [30, 10, 20] }, 0, 24],
  ['nothing measured: the client does not matter', { roundTripMs: [0, 5, 0] }, 1, 0],
  ['nothing at all: the first', {}, 0, 0],
  ['no candidate measured anywhere', { here: [0, 10, 0], candidates: [2, 0] }, 2, 0],
])('%s', (_, row, expected, scope) => {
  expect(choose(row)).toEqual([expected, scope])
})

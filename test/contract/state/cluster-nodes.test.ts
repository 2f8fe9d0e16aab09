// The nodes of the cluster: who announced itself is listed, and a restart is asked of one node.
import { describe, expect, test } from 'vitest'
import { clusterNodeLimits } from '#state/ports/cluster-nodes.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'
import {
  ephemeralAdapters,
  sharedAdapters,
  useEphemeral,
} from '#test/support/ephemeral-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const wordOf = (name: string, atMs: number): ClusterNode => ({
  ...{ name, version: '0.1.0', startedAtMs: atMs, atMs, commit: null, digest: null, seq: 0 },
  ...{ issuedAtMs: null, busyRatio: 0, queries: 0, status: 'starting', reasons: [] },
  ...{ members: { healthy: 0, unhealthy: 0, warming: 0 }, isSupervised: false },
})

describe.each(ephemeralAdapters)('nodes in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('are listed as they last said, until they leave', async () => {
    const { ports, clock } = store()
    const { clusterNodes } = ports
    const announced = await clusterNodes.announce(wordOf('a', clock.nowMs()))
    // A store that is away says so; the API then shows the node alone.
    if (!announced.ok) return expect(announced.error.code).toBe('store-away')
    const later = { ...wordOf('a', clock.nowMs()), queries: 5 }
    await valueOf(clusterNodes.announce(later))
    const other = wordOf('b', clock.nowMs())
    await valueOf(clusterNodes.announce(other))
    const listed = await valueOf(clusterNodes.list())
    expect(listed.toSorted((x, y) => (x.name < y.name ? -1 : 1))).toEqual([later, other])
    await valueOf(clusterNodes.leave('a'))
    expect(await valueOf(clusterNodes.list())).toEqual([other])
  })

  test('a restart is asked of the node that is named, which answers', async () => {
    const { clusterNodes } = store().ports
    const asked: string[] = []
    clusterNodes.onRestart('a', () => {
      asked.push('a')
      return null
    })
    const forget = clusterNodes.onRestart('b', () => 'it cannot')
    const answer = await clusterNodes.askRestart('a')
    if (!answer.ok) return expect(answer.error.code).toBe('store-away')
    expect([answer.value, asked]).toEqual([null, ['a']])
    expect(await valueOf(clusterNodes.askRestart('b'))).toBe('it cannot')
    forget()
  })
})

const kept = sharedAdapters

describe.each(kept)('nodes that are kept in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('are forgotten a day after their last word', async () => {
    const { ports, clock } = store()
    const oldMs = clock.nowMs() - clusterNodeLimits.forgottenMs - 1
    await valueOf(ports.clusterNodes.announce(wordOf('old', oldMs)))
    await valueOf(ports.clusterNodes.announce(wordOf('new', clock.nowMs())))
    const listed = await valueOf(ports.clusterNodes.list())
    expect(listed.map(({ name }) => name)).toEqual(['new'])
  })

  test('get no answer from a silent node, within three seconds', async () => {
    expect(await valueOf(store().ports.clusterNodes.askRestart('nobody'))).toBeUndefined()
  })
})

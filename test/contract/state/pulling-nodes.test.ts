// Contract of stored node reports: every store keeps the last report of each pulling node for a
// day.
import { describe, expect, test } from 'vitest'
import { pullingNodeLimits } from '#state/ports/pulling-nodes.ts'
import { ephemeralAdapters, useEphemeral } from '#test/support/ephemeral-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

describe.each(ephemeralAdapters)('reports of pulling nodes, in %s', (_name, start) => {
  const store = useEphemeral(start)

  test('is the last word of each, for a day', async () => {
    const { ports, clock, pass } = store()
    const { pullingNodes } = ports
    const old = { key: 'a 1', text: '{"a": "ö 1"}', atMs: clock.nowMs() }
    const told = await pullingNodes.tell(old)
    if (!told.ok) return expect(told.error.code).toBe('store-away')
    const one = { ...old, text: '{"a": 2}' }
    await valueOf(pullingNodes.tell(one))
    expect(await valueOf(pullingNodes.list())).toEqual([one])
    await pass(pullingNodeLimits.forgottenMs)
    const two = { key: 'b 1', text: '{}', atMs: clock.nowMs() }
    await valueOf(pullingNodes.tell(two))
    await pass(1)
    expect(await valueOf(pullingNodes.list())).toEqual([two])
  })
})

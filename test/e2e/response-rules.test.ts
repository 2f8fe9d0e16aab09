// Response rules in a whole node: every thread follows them and counts, and counts outlive a swap.
import { describe, expect, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { generation, publish } from '#test/support/node-under-test.ts'
import { rule } from '#test/support/response-rules.ts'
import { startedNode } from '#test/support/started-node.ts'

const key = newSigningKey()
const kept = rule(2, 'domain', 'bad.example.')

describe.each([0, 2])('with %i threads', (threads) => {
  test('rules are followed over UDP and TCP, and hits are kept over swaps', async () => {
    const { node, port } = await startedNode({ trusted: key, threads })
    const at = { host: '127.0.0.1', port }
    const rcodeOf = async (name: string, tcp = false): Promise<number> =>
      (await ask(at, `${name} A`, { tcp })).rcode
    await node.activate(publish(key, generation(1), { seq: 1 }))
    expect(await rcodeOf('x.bad.example.')).toBe(5)

    await node.activate(publish(key, { ...generation(2), responseRules: [kept] }, { seq: 2 }))
    for (let i = 0; i < 40; i++) expect(await rcodeOf(`x${i}.bad.example.`, i % 4 === 0)).toBe(3)
    expect(node.responseHits.read()).toEqual([
      {
        uid: kept.uid,
        source: 'local',
        triggerType: 'domain',
        trigger: 'bad.example.',
        hits: 40,
      },
    ])

    // Other rules before and after it, then the same ones in another bundle.
    const responseRules = [rule(1, 'exact', 's0.test.'), kept, rule(3, 'exact', 'x.bad.example.')]
    for (const seq of [3, 4]) {
      await node.activate(publish(key, { ...generation(seq), responseRules }, { seq }))
      expect(await rcodeOf('s0.test.')).toBe(3)
      expect(await rcodeOf('y.bad.example.')).toBe(3)
    }
    expect(node.responseHits.read().map(({ hits }) => hits)).toEqual([2, 42, 0])

    await node.activate(publish(key, generation(5), { seq: 5 }))
    expect(await rcodeOf('y.bad.example.')).toBe(5)
    expect(node.responseHits.read()).toEqual([])
    expect([...node.responseHits.bySource()]).toEqual([['local', 44]])
  })
})

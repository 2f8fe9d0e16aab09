// What sources of discovery say, whatever it is: it is read or refused, and never throws.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { targetsOfInstances } from '#integrations/discovery/kinds/consul.ts'
import { newsIn, targetsOfSlices } from '#integrations/discovery/kinds/kubernetes.ts'
import { printTargets, readTargets } from '#integrations/targets/fleet-document.ts'
import type { RawTarget } from '#integrations/targets/kind.ts'
import { targetsOfGroups } from '#integrations/targets/target-groups.ts'
import { checkTargets } from '#integrations/targets/targets.ts'
import { boundedLines } from '#lib/http/bounded-body.ts'
import { parseJson } from '#lib/text/json.ts'
import type { Result } from '#lib/result.ts'

type Read = (json: unknown) => Result<readonly RawTarget[], string>

const key = 'web/'
const sign = (text: string): string => `signed${text.length}`
const signerOf = (text: string, signature: string) => (signature === sign(text) ? 'k' : undefined)

/** What is taken can be answered with, and told to others. */
function checkRead(read: Read, json: unknown): void {
  const found = read(json)
  if (!found.ok) {
    expect(found.error).toMatch(/^[a-z].{5,}[^.]$/)
    return
  }
  const { targets, leftOut } = checkTargets(found.value, 'weight', false)
  expect(targets.length + leftOut).toBe(found.value.length)
  for (const { address, port, weight } of targets) {
    expect(address).toMatch(/^[0-9a-f.:]+$/)
    expect(Number.isInteger(port) && port >= 0 && port <= 65_535).toBe(true)
    expect(Number.isInteger(weight) && weight > 0 && weight <= 65_535).toBe(true)
  }
  const text = printTargets({ key, atMs: 1, freshMs: 1, targets }, sign)
  const told = targets.map(({ address, port, labels }) => ({ address, port, labels }))
  expect(readTargets(text, key, signerOf)).toMatchObject({ ok: true, value: { targets: told } })
}

const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(-1, 0.5, 1e99, '', '\ud800'))
const text = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), odd)
const labels = fc.oneof(fc.dictionary(fc.string(), fc.oneof(fc.string(), odd)), odd)
const port = fc.oneof(fc.nat(70_000), odd)
const listOf = (item: fc.Arbitrary<unknown>) => fc.oneof(fc.array(item, { maxLength: 4 }), odd)

const group = fc.record({ targets: listOf(text), labels }, { requiredKeys: [] })
const instance = fc.record(
  {
    Service: fc.record(
      {
        ...{ Address: text, Port: port, Tags: listOf(text), Meta: labels },
        Weights: fc.record({ Passing: port }),
      },
      { requiredKeys: [] },
    ),
    Node: fc.record({ Address: text, Node: text, Datacenter: text }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const endpoint = fc.record(
  {
    ...{ addresses: listOf(text), zone: text, nodeName: text },
    conditions: fc.record({ ready: fc.oneof(fc.boolean(), odd) }),
  },
  { requiredKeys: [] },
)
const slice = fc.record({
  ...{ addressType: fc.constantFrom('IPv4', 'IPv6', 'FQDN'), endpoints: listOf(endpoint) },
  ...{ ports: listOf(fc.record({ port })), metadata: fc.record({ labels }) },
})

const parsers: readonly (readonly [corpus: string, read: Read, like: fc.Arbitrary<unknown>])[] = [
  ['target-groups', targetsOfGroups, listOf(group)],
  ['consul-reply', targetsOfInstances, listOf(instance)],
  ['endpoint-slices', (json) => targetsOfSlices(json), fc.record({ items: listOf(slice) })],
]

describe.each(parsers)('%s', (name, read, like) => {
  test('what is like an answer, or any JSON, is read or refused', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: like }, odd), (json) => checkRead(read, json)),
      { numRuns: 300 },
    )
  })

  const corpus = `test/fuzz/corpus/${name}`
  test.each(readdirSync(corpus))('%s is read or refused', (file) => {
    const json = parseJson(readFileSync(`${corpus}/${file}`, 'utf8'))
    expect(json).toBeDefined()
    checkRead(read, json)
  })
})

describe('what is shared', () => {
  const corpus = 'test/fuzz/corpus/fleet-targets'
  test.each(readdirSync(corpus))('%s is refused', (file) => {
    const whole = readFileSync(`${corpus}/${file}`, 'utf8')
    expect(
      readTargets(whole, key, (_text, signature) => (signature === 'signed' ? 'k' : undefined)).ok,
    ).toBe(false)
  })

  test('a text that was changed anywhere is refused, or never throws', () => {
    const target = { address: '192.0.2.1', port: 80, labels: new Map([['tag', ['a', 'b']]]) }
    const whole = printTargets({ key, atMs: 5, freshMs: 5, targets: [target] }, () => 'signed')
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.string({ maxLength: 3 }), (at, change) => {
        const changed = whole.slice(0, at) + change + whole.slice(at + change.length)
        const original = whole.slice(whole.indexOf('\n') + 1)
        const read = readTargets(changed, key, (signed) => (signed === original ? 'k' : undefined))
        if (read.ok) expect(read.value.targets).toEqual([target])
        readTargets(changed, key, () => 'k')
      }),
      { numRuns: 300 },
    )
  })
})

describe('the events of a watch', () => {
  /** In parts of some size, as they come from a connection. */
  async function* partsOf(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size)
  }

  async function checkEvents(octets: Uint8Array, size: number): Promise<void> {
    const lines: string[] = []
    for await (const line of boundedLines(partsOf(octets, size), 100_000)) lines.push(line)
    expect(lines).toEqual(Buffer.from(octets).toString('utf8').split('\n').slice(0, -1))
    const seen = await newsIn(boundedLines(partsOf(octets, size), 100_000), '10')
    if (!seen.ok) expect(seen.error).toMatch(/^its watch .{10,}$/s)
    else if (seen.value !== 'news') expect(seen.value.version).toMatch(/^[\w.:-]{1,64}$/)
  }

  const version = fc.oneof(fc.nat().map(String), odd)
  const event = fc.record(
    {
      type: fc.oneof({ weight: 4, arbitrary: fc.constant('BOOKMARK') }, fc.constant('ERROR'), odd),
      object: fc.oneof(
        fc.record({ metadata: fc.record({ resourceVersion: version }) }),
        fc.record({ code: fc.oneof(fc.constant(410), odd), message: text }),
        odd,
      ),
    },
    { requiredKeys: [] },
  )
  const line = fc.oneof(
    event.map((one) => JSON.stringify(one)),
    fc.string(),
  )
  const stream = fc.oneof(
    { weight: 4, arbitrary: fc.array(line, { maxLength: 6 }).map((all) => all.join('\n')) },
    fc.constant('\n\n'),
  )

  test('are read or refused, in whatever parts they come', async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.integer({ min: 1, max: 80 }), (said, size) =>
        checkEvents(Buffer.from(said), size),
      ),
      { numRuns: 300 },
    )
  })

  test('a line is left at the first octet too many', async () => {
    const read = async () => {
      for await (const one of boundedLines(partsOf(Buffer.from('abc\nabcd\n'), 2), 3))
        expect(one).toBe('abc')
    }
    await expect(read()).rejects.toThrow('the answer has more than 3 octets')
  })

  const corpus = 'test/fuzz/corpus/watch-events'
  test.each(readdirSync(corpus))('%s is read or refused', async (file) => {
    await checkEvents(readFileSync(`${corpus}/${file}`), 7)
  })
})

// Secondaries of others that follow many changes by IXFR: each has what a whole transfer shows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import type { TextsHandler } from '#zones/dynamic/dynamic-dns.ts'
import { Random } from '#lib/random.ts'
import { pool, service } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { notifierOf, startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary, SecondaryName } from '#test/support/dns/secondary.ts'
import { transferred } from '#test/support/dns/transferred.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { freePort } from '#test/support/free-port.ts'
import { testSeed } from '#test/support/random.ts'
import { storedTxt } from '#test/support/txt-records.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'example.com.'
const programs: readonly SecondaryName[] = ['bind', 'knot', 'nsd']
const changes = 40

/** The records of the database, changed by hand. */
class Texts {
  readonly texts = new WrittenRecords()
  #handler: TextsHandler = () => undefined
  #revision = 0

  onChange(handler: TextsHandler): () => void {
    this.#handler = handler
    return () => undefined
  }

  async change(added: string, removed: string): Promise<void> {
    const name = `${added}.${zone}`
    const record = storedTxt([name, `${added}-${this.#revision}`, 60])
    const gone = [...this.texts.records()].filter(({ name: one }) => one === `${removed}.${zone}`)
    const revision = ++this.#revision
    const delta = { revision, added: [record], removed: gone.map(({ id }) => id) }
    await this.#handler({ ...delta, names: this.texts.change(delta) })
  }
}

/** What a repository says, of which each commit changes something. */
class Commits {
  readonly #random: Random
  readonly #lines = new Map<string, string>()
  #members = ['192.0.2.10', '2001:db8::10']
  #ttl = 60
  #refresh = 3_600

  constructor(random: Random) {
    this.#random = random
    for (let i = 0; i < 60; i++) this.#lines.set(`n${i}`, `A 192.0.2.${i}`)
  }

  change(): void {
    const pick = (count: number): number => this.#random.below(count)
    const name = `n${pick(80)}`
    const kind = pick(8)
    const rdata = [
      `A 192.0.2.${pick(250)}`,
      `AAAA 2001:db8::${pick(250)}`,
      `MX ${pick(3)} n${pick(9)}`,
      `TXT "${'x'.repeat(pick(200))}"`,
      `CNAME n${pick(9)}.example.net.`,
      `NS n${pick(9)}.${name}`,
    ][kind]
    if (kind === 6) this.#lines.delete(name)
    else if (kind === 7) this.#members = [`192.0.2.${pick(9)}`, `2001:db8::${pick(9)}`]
    else this.#lines.set(name, rdata!)
    if (pick(5) === 0) this.#ttl = 60 + pick(3)
    if (pick(9) === 0) this.#refresh = 3_600 + pick(3)
  }

  model(): BundleModel {
    const lines = [...this.#lines].map(
      ([name, rdata], i) => `${name} ${i % 9 === 0 ? this.#ttl : 60} ${rdata}`,
    )
    const text = `@ 60 IN SOA ns root 1 ${this.#refresh} 3 864000 5\n@ 60 NS ns.example.net.\n`
    const written = modelOf({ name: zone, text: `${text}${lines.join('\n')}\n` })
    return {
      ...written,
      pools: [pool(1, this.#members)],
      services: [service(1, `app.${zone}`, { ttlSeconds: this.#ttl })],
    }
  }
}

const random = new Random(testSeed)
const commits = new Commits(random)
const feed = new Texts()
const keys = programs.map((program) => {
  const secret = Buffer.alloc(32, program)
  const name = `${program}.example.`
  const algorithm = tsigAlgorithm('hmac-sha256.')!
  const exchanged = { id: program, name: wireName(name), algorithm, secret, scope: null }
  return {
    exchanged: { ...exchanged, mayTransfer: true },
    ofSecondary: { name, secret: secret.toString('base64') },
  }
})
let node: RunningNode
const secondaries: Secondary[] = []
const notifiers: ReturnType<typeof notifierOf>[] = []

beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [], zonemd: true }
  node = await startNode(commits.model(), { transfers, dynamic: feed })
  node.node.setKeys(keys.map(({ exchanged }) => exchanged))
  for (const [i, program] of programs.entries()) {
    const port = await freePort()
    const key = keys[i]!.ofSecondary
    secondaries.push(startSecondary(program, { zone, port, primaryPort: node.port, key }))
    notifiers.push(notifierOf(port, [zone], keys[i]!.exchanged))
  }
}, 60_000)
afterAll(async () => {
  for (const notifier of notifiers) notifier.stop()
  for (const secondary of secondaries) await secondary.stop()
  await node?.stop()
})

async function serialOf(server: Endpoint): Promise<number> {
  const { answer } = await ask(server, `${zone} SOA`)
  return answer.length === 0 ? -1 : Number(answer[0]!.rdataText.split(' ')[2])
}

async function allHave(serial: number): Promise<void> {
  for (const [i, secondary] of secondaries.entries()) {
    const has = async (): Promise<boolean> => (await serialOf(secondary)) === serial
    const what = `${programs[i]} to have serial ${serial}: ${secondary.output()}`
    await waitUntil(what, has, { timeoutMs: 30_000 })
  }
}

test('BIND, Knot DNS and NSD follow commits and TXT records by their changes', async () => {
  await allHave(await serialOf(node))
  for (let i = 0; i < changes; i++) {
    // Some differences are over a few versions.
    for (let versions = 1 + random.below(3); versions > 0; versions--) {
      if (random.below(2) === 0) await feed.change(`t${random.below(9)}`, `t${random.below(9)}`)
      else {
        commits.change()
        await node.serve(commits.model())
      }
    }
    for (const notifier of notifiers) notifier.changed()
    await allHave(await serialOf(node))
    const { lines } = await transferred(node, zone)
    for (const [at, secondary] of secondaries.entries()) {
      const copy = await transferred(secondary, zone)
      expect([programs[at], ...[...copy.lines].sort()]).toEqual([
        programs[at],
        ...[...lines].sort(),
      ])
    }
  }
  // Counts come once a second.
  const counts = () => node.node.exchangeStats!.transfers
  const all = changes * programs.length
  const areCounted = (): boolean => counts().incremental >= all
  await waitUntil(`the counts: ${JSON.stringify(counts())}`, () => Promise.resolve(areCounted()), {
    timeoutMs: 4_000,
  })
  expect(counts()).toMatchObject({ incremental: all, old: 0, large: 0 })
}, 240_000)

// Prerequisites of updates beside BIND and Knot DNS: one zone on both, the same signed messages to
// both, and the same rcode and zone after each. RFC 2136 sections 2.4 and 3.2.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { ask, exchangeUdp } from '#test/support/dns/client.ts'
import { signedWith, testKey, testSecret, updateMessage } from '#test/support/dns/signed.ts'
import type { UpdateParts } from '#test/support/dns/signed.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { startPrimary } from '#test/support/zone-push/primaries.ts'
import type { Primary } from '#test/support/zone-push/primaries.ts'

const bearer = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: bearer, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const zone = 'example.com.'
const key = testKey('both.example.')
const named = { name: 'both.example.', secret: testSecret.toString('base64') }

/** What Git declares here, but for `www`, which is a service, and the SOA and NS records. */
const declared = `
text 60 TXT "one"
text 60 TXT "Two"
alias 60 CNAME www
mail 60 MX 10 www
*.wild 60 A 192.0.2.9
below.empty 60 TXT "x"
`
const zoneText = `$ORIGIN ${zone}
@ 60 SOA ns1 hostmaster 1 3600 600 86400 5
@ 60 NS ns1
ns1 60 A 127.0.0.1
www 5 A 192.0.2.1
${declared}`
const recordsYaml = `apiVersion: gslb/v1
kind: Records
metadata: { name: declared }
spec:
  zone: ${zone}
  records:
    - { name: text, type: TXT, ttl: 60, values: ['"one"', '"Two"'] }
    - { name: alias, type: CNAME, ttl: 60, values: [www.${zone}] }
    - { name: mail, type: MX, ttl: 60, values: [10 www.${zone}] }
    - { name: "*.wild", type: A, ttl: 60, values: [192.0.2.9] }
    - { name: below.empty, type: TXT, ttl: 60, values: ['"x"'] }
`

let site: Site
let ours = 0
/** gslbd, and the server beside it. */
let ports: readonly number[]

beforeAll(async () => {
  site = await Site.make('update-prerequisites', {
    dns: { domain: 'example.com', update: { types: ['TXT', 'A', 'AAAA', 'CNAME'] } },
  })
  site.write('tenants/default/records/declared.yaml', recordsYaml)
  await site.commit('the zone of both')
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  const body = { ...named, scope: zone }
  const made = await callApi(daemon, 'POST', '/dns/tsig-keys', { bearer, body })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  ours = daemon.dnsPort
  const answers = async () => (await daemon.answers(`mail.${zone} MX`)).length > 0
  await waitUntil('the commit', answers)
}, 240_000)
afterAll(() => site?.remove())

/** The rcode of gslbd, and that of the other. */
async function both(parts: Omit<UpdateParts, 'zone'> & { readonly zone?: string }) {
  const message = signedWith(key, updateMessage({ zone, ...parts }))
  const said = ports.map(async (port) => exchangeUdp({ host: '127.0.0.1', port }, message))
  return (await Promise.all(said)).map((reply) => reply[3]! & 15)
}

async function shown(question: string): Promise<readonly string[]> {
  const asked = ports.map(async (port) => {
    const { rcode, answer } = await ask({ host: '127.0.0.1', port }, question)
    return [rcode, ...answer.map(({ rdataText }) => rdataText).sort()].join(' ')
  })
  return await Promise.all(asked)
}

const rows: readonly (readonly [needs: string, rcode: number])[] = [
  // A name is in use, or not: an empty name above others and what a wildcard makes are not.
  ['www 0 ANY ANY', 0],
  ['none 0 ANY ANY', 3],
  ['empty 0 ANY ANY', 3],
  ['any.wild 0 ANY ANY', 3],
  ['*.wild 0 ANY ANY', 0],
  ['@ 0 ANY ANY', 0],
  ['www 0 NONE ANY', 6],
  ['none 0 NONE ANY', 0],
  ['empty 0 NONE ANY', 0],
  ['any.wild 0 NONE ANY', 0],
  ['below.empty 0 NONE ANY', 6],
  // There are records of a type, or none.
  ['www 0 ANY A', 0],
  ['www 0 ANY TXT', 8],
  ['none 0 ANY A', 8],
  ['alias 0 ANY CNAME', 0],
  ['alias 0 ANY A', 8],
  ['@ 0 ANY SOA', 0],
  ['@ 0 ANY NS', 0],
  ['@ 0 NONE SOA', 7],
  ['www 0 NONE A', 7],
  ['www 0 NONE AAAA', 0],
  ['none 0 NONE A', 0],
  ['any.wild 0 NONE A', 0],
  // A set is as it is said, whole, whatever the letters of names.
  ['text 0 IN TXT "one" | text 0 IN TXT "Two"', 0],
  ['text 0 IN TXT "Two" | text 0 IN TXT "one"', 0],
  ['text 0 IN TXT "one"', 8],
  ['text 0 IN TXT "one" | text 0 IN TXT "two"', 8],
  ['text 0 IN TXT "one" | text 0 IN TXT "Two" | text 0 IN TXT "3"', 8],
  ['www 0 IN A 192.0.2.1', 0],
  ['www 0 IN A 192.0.2.2', 8],
  ['none 0 IN A 192.0.2.1', 8],
  ['MAIL 0 IN MX 10 WWW.EXAMPLE.com.', 0],
  ['mail 0 IN MX 20 www.example.com.', 8],
  ['alias 0 IN CNAME WwW.example.com.', 0],
  ['@ 0 IN NS ns1.example.com.', 0],
  // No name has records of a type that stands for others.
  ['www 0 ANY AXFR', 8],
  ['www 0 NONE MAILA', 0],
  // The first that is not so is told; sets are compared after all others.
  ['none 0 ANY ANY | www 0 NONE ANY', 3],
  ['www 0 NONE ANY | none 0 ANY ANY', 6],
  ['www 0 IN A 192.0.2.2 | www 0 NONE ANY', 6],
  ['www 0 IN A 192.0.2.2 | none 0 ANY A', 8],
  // What no prerequisite looks like.
  ['www 1 ANY A', 1],
  ['www 1 NONE A', 1],
  ['www 1 IN A 192.0.2.1', 1],
  ['www 0 ANY A 192.0.2.1', 1],
  ['www 0 NONE A 192.0.2.1', 1],
  ['www 0 CH A', 1],
  ['www 0 IN TSIG', 1],
  ['www 0 HS TXT "x"', 1],
  ['www.example.net. 0 ANY ANY', 10],
  ['com. 0 NONE ANY', 10],
  ['www.example.net. 0 CH ANY', 10],
  ['www.example.net. 1 ANY ANY', 1],
]
const absolute = (line: string): string =>
  line.replace(/^(\S+)/, (name) =>
    name === '@' ? zone : name.endsWith('.') ? name : `${name}.${zone}`,
  )
const linesIn = (text: string): readonly string[] => text.split(' | ').map(absolute)

describe.each(['bind', 'knot'] as const)('beside %s', (name) => {
  let other: Primary
  beforeAll(async () => {
    other = await startPrimary(name, zoneText, { zone, port: await freePort(), key: named })
    ports = [ours, other.port]
  }, 60_000)
  afterAll(() => other?.stop())

  test.each(rows)('%s is %i on both', async (needs, rcode) => {
    expect(await both({ needs: linesIn(needs) })).toEqual([rcode, rcode])
  })

  test('a record that is named twice counts once, other than in BIND', async () => {
    const needs = linesIn('www 0 IN A 192.0.2.1 | www 0 IN A 192.0.2.1')
    expect(await both({ needs })).toEqual([0, name === 'bind' ? 8 : 0])
  })

  test('a set of the type ANY is one that is not there, other than in Knot DNS', async () => {
    expect(await both({ needs: linesIn('www 0 IN ANY') })).toEqual([8, name === 'bind' ? 8 : 1])
  })

  test('what follows prerequisites is done where they are so, and not otherwise', async () => {
    const steps: readonly (readonly [needs: string, updates: string, rcode: number])[] = [
      ['new 0 NONE ANY', 'new 60 IN A 192.0.2.7', 0],
      ['new 0 NONE ANY', 'new 60 IN A 192.0.2.8', 6],
      ['new 0 IN A 192.0.2.7', 'new 60 IN A 192.0.2.8 | new 60 IN TXT "x"', 0],
      ['new 0 IN A 192.0.2.7', 'new 0 ANY ANY', 8],
      ['new 0 IN A 192.0.2.8 | new 0 IN A 192.0.2.7', 'new 0 NONE A 192.0.2.7', 0],
      ['new 0 ANY TXT', 'new 0 ANY A', 0],
      ['new 0 ANY A', 'new 0 ANY ANY', 8],
      ['new 0 ANY ANY', 'new 0 ANY ANY', 0],
      ['new 0 NONE ANY', 'alias2 60 IN CNAME www.example.com.', 0],
      ['alias2 0 ANY CNAME', 'alias2 60 IN A 192.0.2.7', 0],
      ['alias2 0 NONE A', 'alias2 60 IN CNAME mail.example.com.', 0],
      ['alias2 0 IN CNAME mail.example.com.', 'alias2 0 ANY CNAME', 0],
    ]
    for (const [needs, updates, rcode] of steps) {
      const said = await both({ needs: linesIn(needs), updates: linesIn(updates) })
      expect([needs, updates, ...said]).toEqual([needs, updates, rcode, rcode])
      for (const question of ['new A', 'new TXT', 'alias2 CNAME', 'alias2 A']) {
        const [mine, theirs] = await shown(absolute(question))
        expect([needs, updates, question, mine]).toEqual([needs, updates, question, theirs])
      }
    }
  })

  test('any prerequisites, in any order, have the same rcode', async () => {
    // BIND refuses the whole message for one that is none, wherever it stands.
    const lines = rows.filter(([, rcode]) => rcode !== 1).flatMap(([needs]) => linesIn(needs))
    const lists = fc.uniqueArray(fc.constantFrom(...lines), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(lists, async (needs) => {
        const [mine, theirs] = await both({ needs })
        expect(mine).toBe(theirs)
      }),
      { numRuns: 200 },
    )
  })
})

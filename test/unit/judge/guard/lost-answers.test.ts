// Tests names that would lose their last answer of a family: any change that does it is held.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { breachBetween, isNoRepair } from '#judge/guard/judge.ts'
import { sourceFile } from '../../compiler/fixture.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n`

interface Scene {
  readonly tenant?: string
  readonly guardrails?: string
  /** More fields of zone example.com. */
  readonly zone?: string
  readonly servers?: readonly string[]
  /** Members of pool "web": address or host name, then more. */
  readonly web?: readonly string[]
  readonly webMore?: string
  readonly spare?: readonly string[]
  /** Pool and more of each service. */
  readonly services?: readonly string[]
  readonly rules?: readonly string[]
  readonly records?: readonly string[]
}

const members = (list: readonly string[]): string =>
  list.length === 0
    ? '  members: []\n'
    : `  members:\n${list.map((one, i) => `    - { name: m${i}, port: 80, ${one} }\n`).join('')}`

function outlineOf({
  tenant = 'default',
  guardrails,
  zone = '',
  servers = ['ns1.example.org.', 'ns2.example.org.'],
  web = ['ipAddress: 192.0.2.1', 'ipAddress: 192.0.2.2'],
  webMore = '',
  spare = [],
  services = ['pool: web', 'pool: web', 'pool: web'],
  rules = [],
  records = [],
}: Scene) {
  const tenants = tenant === 'default' ? '' : `, tenants: [${tenant}]`
  const names = servers.map((name) => `{ name: ${name} }`).join(', ')
  const files: Record<string, string> = {
    'gslb.yaml':
      `${head('Settings', 'settings')}  zones: [{ name: example.com.${zone}${tenants} }]\n` +
      `  defaults: { nameservers: [${names}] }\n` +
      (guardrails === undefined ? '' : `  guardrails: { ${guardrails} }\n`),
    [`tenants/${tenant}/pools/web.yaml`]: `${head('Pool', 'web')}${members(web)}${webMore}`,
    [`tenants/${tenant}/pools/spare.yaml`]: `${head('Pool', 'spare')}${members(spare)}`,
  }
  for (const [i, more] of services.entries()) {
    files[`tenants/${tenant}/services/s${i}.yaml`] =
      `${head('Service', `s${i}`)}  { domain: s${i}.example.com., ${more} }\n`
  }
  if (rules.length > 0) {
    files['rpz/block.yaml'] =
      `${head('ResponsePolicy', 'block')}  rules:\n` +
      rules.map((rule) => `    - { ${rule} }\n`).join('')
  }
  if (records.length > 0) {
    files[`tenants/${tenant}/records/static.yaml`] =
      `${head('Records', 'static')}  zone: example.com.\n  records:\n` +
      records.map((one) => `    - { ${one} }\n`).join('')
  }
  const sources = Object.entries(files).map(([path, text]) => sourceFile(path, text))
  const result = createCompiler().compile(sources, { commit: '' })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.outline()
}

const v4 = (n: number, more = ''): string => `ipAddress: 192.0.2.${n}${more}`
const v6 = (n: number, more = ''): string => `ipAddress: '2001:db8::${n}'${more}`
const zero = ', weight: 0'
const weighted = 'pool: web, algorithm: weighted-round-robin'
const denied = 'triggerType: domain, triggerValue: example.com, action: nxdomain'
const passed = 'triggerType: exact, triggerValue: s0.example.com, action: passthru'

type Row = readonly [label: string, before: Scene, after: Scene, words: RegExp | undefined]

const held: readonly Row[] = [
  [
    'services that move to a pool without members',
    {},
    { services: ['pool: spare', 'pool: spare', 'pool: spare'] },
    /^leaves 3 names without an answer that could be given before \(s0\.example\.com\., s1/,
  ],
  [
    'one that does',
    {},
    { services: ['pool: spare', 'pool: web', 'pool: web'] },
    /^leaves 1 name w/,
  ],
  ['a rule that denies the domain', {}, { rules: [denied] }, /^leaves 3 names without/],
  ['a rule that denies but one', {}, { rules: [denied, passed] }, /^leaves 2 names without/],
  ['a pass that goes', { rules: [denied, passed] }, { rules: [denied] }, /1 name without.*\(s0/],
  [
    'a rule that denies static records',
    { records: ['name: mail, type: MX, values: [10 mx.example.org.]'] },
    {
      records: ['name: mail, type: MX, values: [10 mx.example.org.]'],
      rules: ['triggerType: exact, triggerValue: mail.example.com, action: nxdomain'],
    },
    /^leaves 1 name without.*\(mail\.example\.com\.\)$/,
  ],
  [
    'minHealthy above what is enabled',
    { web: [v4(1), v4(2), v4(3, ', enabled: false')] },
    { web: [v4(1), v4(2), v4(3, ', enabled: false')], webMore: '  minHealthy: 3\n' },
    /^leaves 3 names/,
  ],
  ['all IPv4 becomes IPv6', {}, { web: [v6(1), v6(2)] }, /\(s0\.example\.com\.: IPv4, s1/],
  [
    'the last IPv6 goes',
    { web: [v4(1), v4(2), v6(3)] },
    { web: [v4(1), v4(2)] },
    /s0\.example\.com\.: IPv6/,
  ],
  [
    'the last candidate by weight',
    { web: [v4(1), v4(2, zero)], services: [weighted] },
    { web: [v4(1, zero), v4(2, zero)], services: [weighted] },
    /^leaves 1 name without/,
  ],
  [
    'weights that begin to count',
    { web: [v4(1, zero)], services: ['pool: web'] },
    { web: [v4(1, zero)], services: [weighted] },
    /^leaves 1 name without/,
  ],
  [
    'a chain that divides by weight',
    { web: [v4(1, zero)], services: ['pool: web, filterChain: [geo-ip, round-robin]'] },
    { web: [v4(1, zero)], services: ['pool: web, filterChain: [geo-ip, weighted-round-robin]'] },
    /^leaves 1 name without/,
  ],
  [
    'what stands in loses its members',
    { web: [], spare: [v4(9)], services: ["pool: web, onAllDown: 'pool:spare'"] },
    {
      web: [],
      spare: [v4(9, ', enabled: false')],
      services: ["pool: web, onAllDown: 'pool:spare'"],
    },
    /^leaves 1 name without/,
  ],
  [
    'the last member is disabled',
    { web: [v4(1)] },
    { web: [v4(1, ', enabled: false')] },
    /^leaves 3 names without/,
  ],
  [
    'all name servers are replaced',
    {},
    { servers: ['a.example.net.', 'b.example.net.'] },
    /^replaces 2 of the 2 name servers of zone example\.com\. \(ns1\.example\.org\., ns2/,
  ],
  ['the only name server', { servers: ['a.x.'] }, { servers: ['b.x.'] }, /^replaces 1 of the 1/],
  [
    'most of them',
    { servers: ['a.x.', 'b.x.', 'c.x.'] },
    { servers: ['a.x.', 'd.x.', 'e.x.'] },
    /^replaces 2 of the 3/,
  ],
  ['an nsTtl of 68 years', {}, { zone: ', nsTtl: 2147483647' }, /^makes the TTL of the NS or SOA/],
  [
    'an SOA TTL of 68 years',
    {},
    { zone: ', soa: { ttl: 2147483647 }' },
    /from 120 s to 2147483647/,
  ],
  ['a negative TTL of 68 years', {}, { zone: ', soa: { minimum: 2147483647 }' }, /zone example/],
]

const passes: readonly Row[] = [
  [
    'a member of each family that goes',
    { web: [v4(1), v4(2), v6(1), v6(2)] },
    { web: [v4(1), v6(1)] },
    undefined,
  ],
  ['a host name in place of addresses', {}, { web: ['hostname: www.example.org.'] }, undefined],
  ['weight 0 where no weight counts', { web: [v4(1)] }, { web: [v4(1, zero)] }, undefined],
  [
    'weight 0 of one of two',
    { web: [v4(1), v4(2)], services: [weighted] },
    { web: [v4(1), v4(2, zero)], services: [weighted] },
    undefined,
  ],
  [
    'an empty pool that another one stands in for',
    { spare: [v4(9)], web: [v4(1)], services: ["pool: web, onAllDown: 'pool:spare'"] },
    { spare: [v4(9)], web: [], services: ["pool: web, onAllDown: 'pool:spare'"] },
    undefined,
  ],
  [
    'minHealthy where all are answered then',
    { services: ['pool: web, onAllDown: all'] },
    {
      services: ['pool: web, onAllDown: all'],
      web: [v4(1), v4(2, ', enabled: false')],
      webMore: '  minHealthy: 2\n',
    },
    undefined,
  ],
  [
    'one name that loses its pool, and says so',
    {},
    { services: ['ttl: 60', 'pool: web', 'pool: web'] },
    undefined,
  ],
  ['one name that goes', {}, { services: ['pool: web', 'pool: web'] }, undefined],
  [
    'a name that never answered',
    { services: ['pool: spare'] },
    { services: ['pool: spare, algorithm: failover'] },
    undefined,
  ],
  [
    'a rule for the name of others',
    {},
    { rules: [denied.replace('example.com', 'bad.example.org')] },
    undefined,
  ],
  [
    'a rule that makes an alias',
    {},
    { rules: [`${denied.replace('nxdomain', 'cname')}, actionTarget: safe.example.org.`] },
    undefined,
  ],
  [
    'names that were denied before',
    { rules: [denied] },
    { rules: [denied, denied.replace('domain, triggerValue: ', 'exact, triggerValue: s0.')] },
    undefined,
  ],
  [
    'as many as the settings permit',
    { guardrails: 'lostAnswers: 3' },
    { guardrails: 'lostAnswers: 3', rules: [denied] },
    undefined,
  ],
  ['one of two name servers', {}, { servers: ['ns1.example.org.', 'b.x.'] }, undefined],
  [
    'servers that come',
    {},
    { servers: ['ns1.example.org.', 'ns2.example.org.', 'a.x.', 'b.x.'] },
    undefined,
  ],
  [
    'all of them, where it is said',
    { guardrails: 'replacedServers: 100' },
    { servers: ['a.x.', 'b.x.'] },
    undefined,
  ],
  ['an nsTtl of two days', {}, { zone: ', nsTtl: 172800' }, undefined],
]

describe('a name that loses its last answer is held, and so is what a zone itself has', () => {
  test.each([...held, ...passes])('%s', (_, before, after, words) => {
    const breach = breachBetween(outlineOf(before), outlineOf(after))
    if (words === undefined) expect(breach).toBeUndefined()
    else {
      expect(breach?.code).toBe('GuardrailReached')
      expect(breach?.words).toMatch(words)
    }
  })

  test.each(held)('neither it nor its repair removes names: %s', (_, before, after) => {
    const [was, bad] = [outlineOf(before), outlineOf(after)]
    expect([isNoRepair(was, bad), isNoRepair(bad, was)]).toEqual([false, false])
    expect(breachBetween(bad, was, was)).toBeUndefined()
  })

  test('a zone that got its first name meanwhile is repaired all the same', () => {
    const before: Scene = { services: [], records: [] }
    const other = { servers: ['ns3.example.org.', 'ns4.example.org.'] }
    const [was, bad, back] = [before, other, {}].map(outlineOf)
    expect(breachBetween(bad!, back!)?.limit).toBe('replacedServers')
    expect(breachBetween(bad!, back!, was)).toBeUndefined()
  })

  test.each(['default', 'constructor'])('the limit of all others is that of %s', (tenant) => {
    const guardrails = "lostAnswers: 9, tenants: { '*': { lostAnswers: 1 } }"
    const breach = breachBetween(
      outlineOf({ guardrails, tenant }),
      outlineOf({ guardrails, tenant, services: Array<string>(3).fill('pool: spare') }),
    )
    expect(breach?.tenant).toBe(tenant)
  })

  test('the limit of a tenant is its own', () => {
    const guardrails = 'lostAnswers: 9, tenants: { default: { lostAnswers: 1 } }'
    const breach = breachBetween(
      outlineOf({ guardrails }),
      outlineOf({ guardrails, services: Array<string>(3).fill('pool: spare') }),
    )
    expect(breach?.words).toMatch(/^leaves 3 names .*, of tenant "default"$/)
  })
})

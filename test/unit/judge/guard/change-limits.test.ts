// The guardrails for what a change alters besides removing names, and who may override them.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { breachBetween } from '#judge/guard/judge.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { reconcileBench } from '#test/support/reconcile-bench.ts'
import { sourceFile } from '../../compiler/fixture.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec:\n`
const memberRows = (octets: readonly number[], more = ''): string =>
  octets.map((n) => `    - { name: m${n}, ipAddress: 192.0.2.${n}, port: 80${more} }\n`).join('')

interface Scene {
  readonly limits?: string
  /** Members of each pool, by the last octet. */
  readonly pools?: Readonly<Record<string, readonly number[]>>
  readonly off?: readonly number[]
  readonly services?: number
  /** How many services have another TTL, and which. */
  readonly ttl?: readonly [count: number, seconds: number]
  readonly isTurned?: number
}

function filesOf({
  limits,
  pools = { web: [1, 2, 3, 4], shop: [5, 6], mail: [7, 8] },
  off = [],
  services = 3,
  ttl: [longer, seconds] = [0, 0],
  isTurned = 0,
}: Scene): Record<string, string> {
  const names = Object.keys(pools)
  const files: Record<string, string> = {
    'gslb.yaml':
      `${head('Settings', 'settings')}  zones: [{ name: example.com. }]\n` +
      '  defaults: { nameservers: [{ name: ns1.example.org. }] }\n' +
      (limits === undefined ? '' : `  guardrails: { ${limits} }\n`),
  }
  for (const [name, octets] of Object.entries(pools)) {
    const on = octets.filter((n) => !off.includes(n))
    const disabled = octets.filter((n) => off.includes(n))
    const rows = memberRows(on) + memberRows(disabled, ', enabled: false')
    files[`tenants/default/pools/${name}.yaml`] =
      `${head('Pool', name)}  members:${rows === '' ? ' []\n' : `\n${rows}`}`
  }
  for (let i = 0; i < services; i++) {
    const algorithm = i < isTurned ? 'failover' : 'round-robin'
    files[`tenants/default/services/s${i}.yaml`] =
      `${head('Service', `s${i}`)}  { domain: s${i}.example.com., ` +
      `pool: ${names[i % names.length]}, ttl: ${i < longer ? seconds : 60}, algorithm: ${algorithm} }\n`
  }
  return files
}

function outlineOf(scene: Scene) {
  const sources = Object.entries(filesOf(scene)).map(([path, text]) => sourceFile(path, text))
  const result = createCompiler().compile(sources, { commit: '' })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.outline()
}

const full = { web: [1, 2, 3, 4], shop: [5, 6], mail: [7, 8] }

describe('a change that is within the limits passes, one that is not says by what', () => {
  const rows: readonly [label: string, before: Scene, after: Scene, words: RegExp | undefined][] = [
    ['one of two members goes', {}, { pools: { ...full, shop: [5] } }, undefined],
    ['half of four members go', {}, { pools: { ...full, web: [1, 2] } }, undefined],
    [
      'three of four go',
      {},
      { pools: { ...full, web: [1] } },
      /^takes away 3 of the 4 members of pool "web" \(192.0.2.2, [^)]*\), more than 50 %$/,
    ],
    ['three of four are disabled', {}, { off: [1, 2, 3] }, /takes away 3 of the 4 members/],
    ['all are replaced', {}, { pools: { ...full, web: [11, 12, 13, 14] } }, undefined],
    [
      'more may go where it is said',
      { limits: 'removedMembers: 80' },
      { off: [1, 2, 3] },
      undefined,
    ],
    [
      'the limit of the commit before counts',
      { limits: 'removedMembers: 0' },
      { limits: 'removedMembers: 100', off: [1, 2] },
      /takes away 2 of the 4/,
    ],
    [
      'two of three pools are left with one member',
      {},
      { off: [5, 7] },
      /^leaves 2 of 3 pools \([a-z, ]+\) with fewer than two members, more than 30 %$/,
    ],
    ['a pool that nobody asks', { services: 1 }, { services: 1, off: [5, 7] }, undefined],
    ['a TTL of one name', {}, { ttl: [1, 86_400] }, undefined],
    ['TTLs of an hour', {}, { ttl: [3, 3_600] }, undefined],
    [
      'TTLs of a day',
      {},
      { ttl: [2, 86_400] },
      /^makes the TTLs of 2 names more than 10 times as long \(s0.example.com. from 60 s to 864/,
    ],
    ['TTLs that get shorter again', { ttl: [3, 86_400] }, {}, undefined],
    ['all of a few names', { services: 20 }, { services: 20, isTurned: 20 }, undefined],
    [
      'most of many names',
      { services: 30 },
      { services: 30, isTurned: 21 },
      /^changes 21 of 30 names \(s0.example.com., .* and 16 more\), more than 50 %$/,
    ],
    ['half of many names', { services: 42 }, { services: 42, isTurned: 21 }, undefined],
    ['names that come', { services: 3 }, { services: 60 }, undefined],
  ]
  test.each(rows)('%s', (_, before, after, words) => {
    const breach = breachBetween(outlineOf(before), outlineOf(after))
    if (words === undefined) expect(breach).toBeUndefined()
    else {
      expect(breach?.code).toBe('GuardrailReached')
      expect(breach?.words).toMatch(words)
    }
  })

  test('removed names are reported first', () => {
    const breach = breachBetween(
      outlineOf({ services: 6 }),
      outlineOf({ services: 2, off: [1, 2, 3] }),
    )
    expect(breach?.code).toBe('NamesRemoved')
  })
})

test('only whose line permits it releases what is held; its repair needs nobody', async () => {
  const box = gitSandbox()
  const alice = box.sshKey('alice')
  const bob = box.sshKey('bob')
  const line = (who: string, uses: string, key: { publicLine: string }): string =>
    `${who}@example.com namespaces="${uses}" ${key.publicLine}\n`
  const trusted = line('alice', 'git,gslb-override', alice)
  box.write('allowed_signers', trusted + line('bob', 'git', bob))
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  const commit = (scene: Scene, key: typeof alice, ...message: readonly string[]): string => {
    for (const [path, text] of Object.entries(filesOf(scene))) box.write(`repo/${path}`, text)
    box.git(repo, 'add', '-A')
    const parts = ['a change', ...message].flatMap((part) => ['-m', part])
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', ...parts)
    return box.git(repo, 'rev-parse', 'HEAD')
  }
  const override = 'Gslb-Override: the site closes'
  const few = { pools: { ...full, web: [1] } }
  const first = commit({}, bob)
  const bench = reconcileBench({
    gitdir: box.at('repo/.git'),
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
    compiler: createCompilePort(),
  })
  expect((await bench.check()).accepted?.commit).toBe(first)

  commit(few, bob)
  const held = await bench.check()
  expect([held.sync, held.code, held.accepted?.commit]).toEqual(['held', 'GuardrailReached', first])
  expect(held.reason).toContain('takes away 3 of the 4 members of pool "web"')
  expect(held.reason).toContain('The signer of this one may not')
  expect(held.reason).toContain('gslbd trust add PRINCIPAL KEY --may-override')
  const repaired = commit({}, bob)
  expect((await bench.check()).accepted?.commit).toBe(repaired)

  commit(few, bob)
  const vain = commit(few, bob, override)
  const still = await bench.check()
  expect(still.code).toBe('GuardrailReached')
  expect(still.reason).toContain(`Commit ${vain.slice(0, 10)} says that it is meant`)
  expect(still.reason).toContain('"gslb-override"')
  expect(still.reason).not.toContain('The signer of this one')
  const meant = commit(few, alice, override)
  expect((await bench.check()).accepted?.commit).toBe(meant)
})

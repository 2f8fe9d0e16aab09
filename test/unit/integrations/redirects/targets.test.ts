// Gateway API and CDN against stand-ins that take nothing but what they should get; nginx's file
// and command.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCaddy } from '#integrations/redirects/caddy.ts'
import { createCdn } from '#integrations/redirects/cdn.ts'
import { createGateway } from '#integrations/redirects/gateway.ts'
import { createNginx } from '#integrations/redirects/nginx.ts'
import { pushedOf } from '#integrations/redirects/rule.ts'
import type { PushedRedirect } from '#integrations/redirects/rule.ts'
import type { Change, RedirectTarget } from '#integrations/redirects/target.ts'
import { startCdn } from '#test/support/cdn-stand-in.ts'
import { startGatewayApi } from '#test/support/gateway-stand-in.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { Given } from '#test/support/http-stand-in.ts'
import { redirect } from '#test/support/redirects.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const signal = new AbortController().signal
const rules = pushedOf([
  redirect(1, 'a.example', 'https://new.example/base/'),
  redirect(2, 'b.example', 'https://new.example:8443/page', { code: 302, preservePath: false }),
  redirect(3, '*.c.example', 'http://wild.example', { code: 308 }),
])

/** @returns what was to change, or why nothing could be */
async function round(
  target: RedirectTarget,
  wanted: readonly PushedRedirect[],
): Promise<readonly Change[] | string> {
  const plan = await target.look(wanted, signal)
  if (!plan.ok) return plan.error
  const { changes, isPending = false } = plan.value
  if (changes.length === 0 && !isPending) return []
  const applied = await plan.value.apply(signal)
  return applied.ok ? changes : applied.error
}
const verbsOf = (changes: readonly Change[] | string) =>
  typeof changes === 'string' ? changes : changes.map(({ verb }) => verb)

function kubeconfigFor(server: string): string {
  const path = join(tempDir('kubeconfig'), 'config')
  const named = (kind: string, value: object) => [{ name: 'x', [kind]: value }]
  writeFileSync(
    path,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x' },
      clusters: named('cluster', { server, 'insecure-skip-tls-verify': true }),
      users: named('user', { token: 'hush' }),
      contexts: named('context', { cluster: 'x', user: 'x' }),
    }),
  )
  return path
}

describe('HTTPRoutes', () => {
  const settings = {
    ...{ gatewayName: 'edge', gatewayNamespace: 'gateways', httprouteNamespace: 'routes' },
  }

  test('are made, mended and deleted; those of others stay', async () => {
    const api = await startGatewayApi('routes')
    api.routes.set('theirs', { metadata: { name: 'theirs' }, spec: {} })
    const target = createGateway({ ...settings, kubeconfig: kubeconfigFor(api.url) }, {})
    expect(verbsOf(await round(target, rules))).toEqual(['create', 'create', 'create'])
    expect(await round(target, rules)).toEqual([])
    const [first, second, third] = rules.map(({ mark }) => api.routes.get(mark)!)
    expect(first!.spec).toMatchObject({
      hostnames: ['a.example'],
      parentRefs: [{ name: 'edge', namespace: 'gateways' }],
    })
    expect(redirectIn(first)).toEqual({
      ...{ scheme: 'https', hostname: 'new.example', statusCode: 301 },
    })
    expect(redirectIn(second)).toEqual({
      ...{ scheme: 'https', hostname: 'new.example', port: 8443, statusCode: 302 },
      path: { type: 'ReplaceFullPath', replaceFullPath: '/page' },
    })
    expect(third!.spec).toMatchObject({ hostnames: ['*.c.example'] })
    // Somebody else's hand.
    first!.spec = { ...first!.spec, hostnames: ['other.example'] }
    api.routes.delete(rules[1]!.mark)
    expect(verbsOf(await round(target, rules))).toEqual(['update', 'create'])
    expect(verbsOf(await round(target, rules.slice(0, 1)))).toEqual(['delete', 'delete'])
    expect([...api.routes.keys()].toSorted()).toEqual([rules[0]!.mark, 'theirs'].toSorted())
    expect(api.faults).toEqual([])
  })

  const redirectIn = (route: { spec: Readonly<Record<string, unknown>> } | undefined) =>
    (route!.spec as { rules: [{ filters: [{ requestRedirect: object }] }] }).rules[0].filters[0]
      .requestRedirect

  test('many are listed page by page', async () => {
    const api = await startGatewayApi('routes')
    const target = createGateway({ ...settings, kubeconfig: kubeconfigFor(api.url) }, {})
    const many = pushedOf(
      Array.from({ length: 600 }, (_, i) => redirect(i, `h${i}.example`, 'https://new.example')),
    )
    expect((await round(target, many)).length).toBe(600)
    expect(await round(target, many)).toEqual([])
  })

  test('skip an impossible redirect, and go on after a refused one', async () => {
    const api = await startGatewayApi('routes')
    const target = createGateway({ ...settings, kubeconfig: kubeconfigFor(api.url) }, {})
    const odd = pushedOf([
      redirect(4, '_x.example', 'https://new.example'),
      redirect(5, 'd.example', 'https://[2001:db8::1]/'),
      redirect(6, 'e.example', `https://new.example/${'x'.repeat(1_024)}`, { preservePath: false }),
    ])
    const plan = await target.look([...odd, ...rules], signal)
    expect(plan.ok && plan.value.skipped).toEqual([
      { mark: odd[0]!.mark, reason: 'no HTTPRoute can have the host _x.example' },
      { mark: odd[1]!.mark, reason: 'no HTTPRoute can lead to the host [2001:db8::1]' },
      {
        mark: odd[2]!.mark,
        reason: 'no HTTPRoute can lead to a path of more than 1024 characters',
      },
    ])
    // Somebody has one of that name, without our label.
    api.routes.set(rules[0]!.mark, { metadata: { name: rules[0]!.mark }, spec: {} })
    expect(await round(target, [...odd, ...rules])).toMatch(
      /^Kubernetes: \S+ answered 409 to POST \S+: there is one$/,
    )
    expect([...api.routes.keys()].toSorted()).toEqual(rules.map(({ mark }) => mark).toSorted())
  })

  test('a kubeconfig that is not there, is none, or points nowhere', async () => {
    const say = (kubeconfig: string) => round(createGateway({ ...settings, kubeconfig }, {}), rules)
    expect(await say('/none/config')).toMatch(/^\/none\/config cannot be used: ENOENT/)
    const odd = join(tempDir('kubeconfig'), 'config')
    writeFileSync(odd, '<html>')
    expect(await say(odd)).toMatch(/cannot be used: it has no context/)
    // Nothing of the file, which has secrets.
    const broken = join(tempDir('kubeconfig'), 'config')
    writeFileSync(broken, 'users:\n- user: { token: secret\n- x: [\n')
    expect(await say(broken)).toMatch(/cannot be used: [^\n]+$/)
    expect(await say(kubeconfigFor('http://127.0.0.1:1'))).toMatch(
      /^Kubernetes: .* cannot be asked: /,
    )
    expect(await say('')).toMatch(/^the account of the pod cannot be used: /)
  })
})

describe('rules of a CDN', () => {
  test('go into the first zone that has the host; those of others stay', async () => {
    const cdn = await startCdn('hush', ['z1', 'z2', 'z3'])
    const target = createCdn({
      ...{ apiUrl: cdn.url, apiToken: 'hush' },
      zones: [
        { zoneId: 'z3' },
        { zoneId: 'z1', domains: ['a.example', '.C.example.'] },
        { zoneId: 'z2', domains: ['example'] },
      ],
    })
    const theirs = { id: 't', description: 'theirs', expression: 'true', action: 'redirect' }
    cdn.rulesOf('z1').push(theirs)
    const other = pushedOf([redirect(9, 'other.test', 'https://new.test')])
    expect(verbsOf(await round(target, [...rules, ...other]))).toHaveLength(4)
    expect(await round(target, [...rules, ...other])).toEqual([])
    const expressions = (zone: string) => cdn.rulesOf(zone).map(({ expression }) => expression)
    expect(expressions('z1')).toEqual([
      'http.host eq "a.example"',
      'true',
      'ends_with(http.host, ".c.example")',
    ])
    expect(expressions('z2')).toEqual(['http.host eq "b.example"'])
    expect(expressions('z3')).toEqual(['http.host eq "other.test"'])
    expect(cdn.rulesOf('z1')[0]).toMatchObject({
      action_parameters: {
        from_value: {
          status_code: 301,
          target_url: { expression: 'concat("https://new.example/base", http.request.uri)' },
        },
      },
    })
    cdn.rulesOf('z1')[0]!['enabled'] = false
    expect(verbsOf(await round(target, [...rules, ...other]))).toEqual(['update'])
    expect(verbsOf(await round(target, []))).toHaveLength(4)
    expect([cdn.rulesOf('z1'), cdn.rulesOf('z2')]).toEqual([[theirs], []])
    expect(cdn.faults).toEqual([])
  })

  test('a host without a zone is skipped, and said', async () => {
    const cdn = await startCdn('hush', ['z1'])
    const zones = [{ zoneId: 'z1', domains: ['a.example'] }]
    const plan = await createCdn({ apiUrl: cdn.url, apiToken: 'hush', zones }).look(rules, signal)
    expect(plan.ok && plan.value.skipped.map(({ reason }) => reason)).toEqual([
      'no zone has b.example',
      'no zone has c.example',
    ])
  })

  test('go on after a refused one', async () => {
    const cdn = await startCdn('hush', ['z1', 'z2'])
    const zones = [{ zoneId: 'z1', domains: ['a.example'] }, { zoneId: 'none' }, { zoneId: 'z2' }]
    const settings = { apiUrl: cdn.url, apiToken: 'hush', zones }
    cdn.rulesOf('z1').push({ id: 'gone', description: rules[0]!.mark })
    const plan = await createCdn({ ...settings, zones: [zones[0]!, zones[2]!] }).look(rules, signal)
    if (!plan.ok) throw new Error(plan.error)
    cdn.rulesOf('z1').splice(0)
    const done = await plan.value.apply(signal)
    expect(done.ok ? '' : done.error).toMatch(/answered 404 to PATCH/)
    expect(cdn.rulesOf('z2').length).toBe(2)
  })

  test('a wrong token is told, and not shown', async () => {
    const cdn = await startCdn('hush', ['z1'])
    const target = createCdn({ apiUrl: cdn.url, apiToken: 'wrong', zones: [{ zoneId: 'z1' }] })
    const said = await round(target, rules)
    expect(said).toMatch(/answered 401 .*credentials/)
    expect(said).not.toContain('wrong')
  })
})

describe('the file of nginx', () => {
  const make = (reloadCommand: string, reloadMs?: number) => {
    const configDir = tempDir('nginx')
    const configFile = 'svc-redirects.conf'
    const target = createNginx({ configDir, configFile, listen: [], reloadCommand }, reloadMs)
    return { target, path: join(configDir, configFile) }
  }

  test('has a server block for each redirect, and a comment for none', async () => {
    const { target, path } = make('true')
    expect(verbsOf(await round(target, rules))).toEqual(['create', 'create', 'create'])
    expect(readFileSync(path, 'utf8').split('\n').slice(1, 6)).toEqual([
      `# ${rules[0]!.mark}`,
      'server {',
      '    server_name a.example;',
      '    return 301 https://new.example/base$request_uri;',
      '}',
    ])
    expect(readFileSync(path, 'utf8')).toContain('return 302 https://new.example:8443/page;')
    expect(verbsOf(await round(target, rules.slice(1)))).toEqual(['delete'])
    await round(target, [])
    expect(readFileSync(path, 'utf8')).toMatch(/^#[^\n]*\n$/)
  })

  test('is not touched by characters that mean something to nginx', async () => {
    const { target, path } = make('true')
    const odd = [{ ...rules[0]!, target: 'https://a/;}evil{' }, rules[1]!]
    const plan = await target.look(odd, signal)
    expect(plan.ok && plan.value.skipped).toMatchObject([{ mark: rules[0]!.mark }])
    await round(target, odd)
    expect(readFileSync(path, 'utf8')).not.toContain('evil')
    const dollar = pushedOf([redirect(4, 'd.example', 'https://n.example/$host')])
    await round(target, dollar)
    expect(readFileSync(path, 'utf8')).toContain('https://n.example/%24host$request_uri;')
  })

  test('is read again until the command has worked, also where nothing changes', async () => {
    const directory = tempDir('reload')
    const [mark, command] = [join(directory, 'mark'), join(directory, 'reload')]
    writeFileSync(command, `#!/bin/sh\necho broken >&2\ntest -e ${mark}.wanted && touch ${mark}\n`)
    chmodSync(command, 0o755)
    const { target, path } = make(command)
    expect(await round(target, rules)).toMatch(/ended with 1: broken/)
    expect(existsSync(path)).toBe(true)
    writeFileSync(`${mark}.wanted`, '')
    expect(await round(target, rules)).toEqual([])
    expect(existsSync(mark)).toBe(true)
  })

  test('a command that is not there, does not end, or a directory that is a file', async () => {
    expect(await round(make('/none/reload -x').target, rules)).toMatch(/cannot be run: ENOENT/)
    expect(await round(make('sleep 600', 50).target, rules)).toMatch(/did not end within 0\.05 s/)
    const { target, path } = make('true')
    mkdirSync(path)
    expect(await round(target, rules)).toMatch(/cannot be read: EISDIR/)
  })
})

test.each([
  ['has a page on its port', { status: 200, body: '<html>' }, /no JSON/],
  ['has routes that are no list', { status: 200, body: { a: 1 } }, /no list/],
  ['does not know the server', { status: 400, body: { error: 'invalid path' } }, /invalid path/],
])('a Caddy that %s', async (_what, given, says) => {
  const { url } = await startStandIn(() => given)
  const target = createCaddy({ adminUrl: url, serverName: 'srv0' })
  expect(await round(target, rules)).toMatch(says)
})

const targets: readonly (readonly [string, (url: string) => RedirectTarget])[] = [
  ['Caddy', (url) => createCaddy({ adminUrl: url, serverName: 'srv0' })],
  ['CDN', (url) => createCdn({ apiUrl: url, apiToken: 'hush', zones: [{ zoneId: 'z1' }] })],
  [
    'Gateway API',
    (url) =>
      createGateway(
        {
          ...{ gatewayName: 'edge', gatewayNamespace: 'gateways', httprouteNamespace: 'routes' },
          kubeconfig: kubeconfigFor(url),
        },
        {},
      ),
  ],
]
const hostile: readonly [what: string, given: Given | 'hang', says: RegExp][] = [
  ['hangs', 'hang', /took too long/],
  ['answers 500', { status: 500, body: { message: 'no disk' } }, /500.*no disk/],
  ['answers 401', { status: 401, body: { message: 'who?' } }, /401 .*credentials/],
  ['answers HTML', { status: 200, body: '<html>' }, /no JSON|refused|no list/],
  ['answers nothing', { status: 200 }, /no list|no ruleset|without a ruleset|refused/],
]
test.each(
  targets.flatMap(([name, create]) =>
    hostile.map(([what, given, says]) => [name, what, { create, given, says }] as const),
  ),
)('a %s that %s', async (name, what, { create, given, says }) => {
  const { url } = await startStandIn(() => given)
  // A round has so long, whatever a server does.
  const round = what === 'hangs' ? AbortSignal.timeout(100) : signal
  const plan = await create(url).look(rules, round)
  // A Caddy without routes answers nothing.
  if (name === 'Caddy' && what === 'answers nothing') return void expect(plan.ok).toBe(true)
  expect(plan.ok ? 'taken' : plan.error).toMatch(says)
  expect(plan.ok ? '' : plan.error).not.toContain('hush')
})

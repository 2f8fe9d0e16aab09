// A node whose zone DNS clients update, and whose secondary servers are told of each change.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAcmeServer } from '#test/support/acme-server.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ask, exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { signedWith, testKey, updateMessage } from '#test/support/dns/signed.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { lineOf, linesOf } from '#test/support/dns/record.ts'
import { secondaryNames, startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary, SecondaryKey } from '#test/support/dns/secondary.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import type { SaidOptions } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: apiKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
const zone = 'example.com.'
const challenge = '_acme-challenge.www.example.com.'
let site: Site
let daemon: DaemonProcess
let primary: Endpoint
let transferKey: SecondaryKey
let updateKey: SecondaryKey
const secondaries: Secondary[] = []
const ports: number[] = []

beforeAll(async () => {
  for (const _ of secondaryNames) ports.push(await freePort())
  const axfr = {
    ...{ enabled: true, requireTsig: true, allow: ['127.0.0.1'] },
    ...{ notify: ports.map((port) => `127.0.0.1:${port}`), notifyKey: 'transfer.example' },
    catalog: 'catalog.example.net',
  }
  site = await Site.make('secondaries', { dns: { domain: 'Example.com', axfr } })
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  primary = { host: '127.0.0.1', port: daemon.dnsPort }
  const www = async (): Promise<boolean> =>
    (await daemon.answers('www.example.com. A'))[0] === 'www.example.com. 5 IN A 192.0.2.1'
  await waitUntil('the commit', www, { timeoutMs: 20_000 })
  transferKey = await createKey({ name: 'transfer.example.' })
  updateKey = await createKey({ name: 'update.example.', scope: challenge })
  for (const [i, name] of secondaryNames.entries()) {
    const parts = { zone, port: ports[i]!, primaryPort: daemon.dnsPort, key: transferKey }
    secondaries.push(startSecondary(name, parts))
  }
}, 240_000)
afterAll(async () => {
  for (const secondary of secondaries) await secondary.stop()
  await daemon?.stop()
  site?.remove()
})

async function createKey(body: object): Promise<SecondaryKey> {
  const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/dns/tsig-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(201)
  return (await answer.json()) as SecondaryKey
}

async function run(
  program: string,
  args: readonly string[],
  options: SaidOptions = {},
): Promise<string> {
  const { text, code } = await saidBy(program, args, options)
  return code === 0 ? text : `failed: ${text}`
}

const optionOf = ({ name, secret }: SecondaryKey): string => `hmac-sha256:${name}:${secret}`

/** @returns what the program said: nothing when all went well */
async function update(
  program: string,
  lines: readonly string[],
  rest: readonly string[] = ['-y', optionOf(updateKey)],
): Promise<string> {
  const server = `127.0.0.1 ${daemon.dnsPort}`
  const input = [`server ${server}`, `zone ${zone}`, ...lines, 'send', ''].join('\n')
  return (await run(program, rest, { input })).trim()
}

async function texts(server: Endpoint, name = challenge): Promise<readonly string[]> {
  const { answer } = await ask(server, `${name} TXT`, { tcp: true })
  return linesOf(answer)
}

const serialOf = async (server: Endpoint): Promise<number> => {
  const { answer } = await ask(server, `${zone} SOA`)
  const [soa] = answer
  return soa === undefined ? -1 : Number(soa.rdataText.split(' ')[2])
}

/** The plugin of certbot that proves a domain by RFC 2136, as certbot calls it. */
const certbotClient = `
import sys
import dns.name
from certbot_dns_rfc2136._internal.dns_rfc2136 import _RFC2136Client
verb, port, key, secret, name, text = sys.argv[1:]
client = _RFC2136Client('127.0.0.1', int(port), key, secret, dns.name.from_text('hmac-sha256'))
if verb == 'add': client.add_txt_record(name, text, 60)
else: client.del_txt_record(name, text)
`

test('certbot’s plugin finds the zone, adds a challenge and removes it', async () => {
  const { name, secret } = updateKey
  const call = (verb: string) => {
    const target = [challenge.slice(0, -1), 'certbot-token']
    return run(
      '/usr/bin/python3',
      ['-I', '-', verb, `${daemon.dnsPort}`, name, secret, ...target],
      { input: certbotClient },
    )
  }
  expect(await call('add')).toBe('')
  expect(await texts(primary)).toEqual([`${challenge} 60 IN TXT "certbot-token"`])
  expect(await call('delete')).toBe('')
  expect(await texts(primary)).toEqual([])
  const wrong = ['add', `${daemon.dnsPort}`, name, Buffer.alloc(32).toString('base64')]
  const refused = await run('/usr/bin/python3', ['-I', '-', ...wrong, challenge, 'x'], {
    input: certbotClient,
  })
  expect(refused).toMatch(/^failed: [^]*(?:NOTAUTH|BADSIG|PeerBadSignature|PluginError)/)
  expect(await texts(primary)).toEqual([])
})

test('lego gets a certificate by a challenge, and leaves nothing behind', async () => {
  const acme = await startAcmeServer(daemon.dnsPort)
  try {
    const server = `127.0.0.1:${daemon.dnsPort}`
    const before = await serialOf(primary)
    const account = [
      '--email',
      'ann@example.com',
      '--accept-tos',
      '--path',
      join(acme.path, 'lego'),
    ]
    const challenges = ['--dns', 'rfc2136', '--dns.resolvers', server, '--dns.disable-cp']
    const args = ['--server', acme.directoryUrl, ...account, ...challenges]
    const said = await run('lego', [...args, '--domains', 'www.example.com', 'run'], {
      env: {
        LEGO_CA_CERTIFICATES: acme.certificate,
        RFC2136_NAMESERVER: server,
        RFC2136_TSIG_ALGORITHM: 'hmac-sha256.',
        RFC2136_TSIG_KEY: updateKey.name,
        RFC2136_TSIG_SECRET: updateKey.secret,
      },
    })
    const certificate = join(acme.path, 'lego', 'certificates', 'www.example.com.crt')
    expect(existsSync(certificate), `${said}\n${acme.output()}`).toBe(true)
    expect(await serialOf(primary)).toBe(before + 2)
    expect(await texts(primary)).toEqual([])
  } finally {
    await acme.stop()
  }
}, 60_000)

describe.each(['nsupdate', 'knsupdate'])('%s', (program) => {
  describe.each([
    ['UDP', [] as string[]],
    ['TCP', ['-v']],
  ])('over %s', (_transport, transport) => {
    const by = (key: SecondaryKey): string[] => ['-y', optionOf(key), ...transport]

    test('adds and removes a challenge, live when it is answered', async () => {
      const value = `${program}-${transport.length}`
      const add = [`update add ${challenge} 60 TXT "${value}"`]
      expect(await update(program, add, by(updateKey))).toBe('')
      expect(await texts(primary)).toEqual([`${challenge} 60 IN TXT "${value}"`])
      expect(await update(program, add, by(updateKey))).toBe('')
      const gone = [`update delete ${challenge} TXT "${value}"`]
      expect(await update(program, gone, by(updateKey))).toBe('')
      expect(await texts(primary)).toEqual([])
    })

    const add = `update add ${challenge} 60 TXT "x"`
    test.each([
      ['a prerequisite that is not so', ['prereq yxrrset nowhere.example.com. A', add], /NXRRSET/],
      ['a name in use', ['prereq nxdomain www.example.com.', add], /YXDOMAIN/],
      ['a name of another zone', ['update add x.example.net. 60 TXT x'], /NOTZONE/],
      ['a name that is not the key’s', ['update add www.example.com. 60 TXT x'], /REFUSED/],
      ['one good and one bad name', [add, 'update add www.example.com. 60 TXT x'], /REFUSED/],
    ])('is refused %s, and nothing changes', async (_what, lines, expected) => {
      expect(await update(program, lines, by(updateKey))).toMatch(expected)
      expect(await texts(primary)).toEqual([])
    })

    test('is REFUSED unsigned or by an unknown key, NOTAUTH by a wrong one', async () => {
      expect(await update(program, [add], transport)).toMatch(/REFUSED/)
      const unknown = { ...updateKey, name: 'nobody.example.' }
      expect(await update(program, [add], by(unknown))).toMatch(/REFUSED|BADKEY/)
      const wrong = { ...updateKey, secret: Buffer.alloc(32).toString('base64') }
      expect(await update(program, [add], by(wrong))).toMatch(/NOTAUTH|BADSIG/)
      expect(await texts(primary)).toEqual([])
    })
  })
})

test('secondary servers have all of many quick changes, after NOTIFY', async () => {
  for (const [i, server] of secondaries.entries()) {
    await waitUntil(
      `${secondaryNames[i]} to have the zone`,
      async () => (await serialOf(server)) > 0,
      { timeoutMs: 60_000 },
    )
  }
  const before = await serialOf(primary)
  // Within a minute, so that each NOTIFY is about more than one of them.
  const changes = 100
  const key = testKey(updateKey.name, Buffer.from(updateKey.secret, 'base64'))
  const names = Array.from({ length: changes }, (_, i) => `n${i}.${challenge}`)
  const startedMs = performance.now()
  for (const name of names) {
    const message = updateMessage({ zone, updates: [`${name} 60 IN TXT "${name}"`] })
    expect(decodeMessage(await exchangeUdp(primary, signedWith(key, message))).rcode).toBe(0)
  }
  expect(performance.now() - startedMs).toBeLessThan(60_000)
  const serial = await serialOf(primary)
  expect(serial).toBe(before + changes)
  for (const [i, server] of secondaries.entries()) {
    await waitUntil(
      `${secondaryNames[i]} to have serial ${serial}: ${server.output()}`,
      async () => (await serialOf(server)) === serial,
      { timeoutMs: 60_000 },
    )
    for (const name of names) {
      expect(await texts(server, name)).toEqual([`${name} 60 IN TXT "${name}"`])
    }
    const www = await ask(server, 'www.example.com. A')
    expect(www.answer.map(lineOf)).toEqual(['www.example.com. 5 IN A 192.0.2.1'])
  }
  // A commit is told, too.
  await site.publish('192.0.2.9')
  for (const [i, server] of secondaries.entries()) {
    await waitUntil(
      `${secondaryNames[i]} to have the commit`,
      async () => {
        const { answer } = await ask(server, 'www.example.com. A')
        return answer[0]?.rdataText === '192.0.2.9'
      },
      { timeoutMs: 60_000 },
    )
  }
}, 240_000)

test('a zone of the name of the catalog zone is told in the log, and served', async () => {
  const said = 'gslb.yaml has a zone of the name in dns.axfr.catalog'
  expect(daemon.logged(said)).toBeUndefined()
  const settings = readFileSync(join(site.checkout, 'gslb.yaml'), 'utf8')
  const zoneLines =
    '    - name: catalog.example.net.\n      nameservers: [{ name: ns1.example.com. }]\n'
  site.write('gslb.yaml', settings.replace('  zones:\n', `$&${zoneLines}`))
  await site.commit('a zone of that name')
  await site.push()
  await waitUntil('the zone', async () => {
    const { answer } = await ask(primary, 'catalog.example.net. NS')
    return answer.length === 1
  })
  const told = (): boolean => daemon.logged(said)?.level === 'error'
  await waitUntil(`the log to tell it: ${daemon.output}`, told)
})

// Updates by clients that prove who they are by Kerberos (GSS-TSIG): nsupdate -g of BIND, with
// tickets of MIT's KDC.
import { chmodSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readTkey } from '#dns/tkey/tkey-record.ts'
import { checkStart } from '#node/compose/start-checks.ts'
import { loadSettings } from '#settings/settings.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess, LogLine } from '#test/support/daemon.ts'
import { ask, exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { Realm } from '#test/support/kerberos.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const corpus = join(import.meta.dirname, '../fuzz/corpus/tkey')
const apiKey = 'ab'.repeat(32)
const service = 'DNS/ns1.example.com'
const path = makeTempDir('kerberos')
const realm = new Realm(join(path, 'realm'))
const { start } = useDaemons({
  GSLB_API_KEY: apiKey,
  GSLB_SECRET_KEY: 'cd'.repeat(32),
  KRB5_CONFIG: realm.env['KRB5_CONFIG']!,
})
let site: Site
let daemon: DaemonProcess
let keytab = ''

beforeAll(async () => {
  await realm.start()
  keytab = await realm.addPrincipal(service)
  for (const principal of ['PC1$', 'host/pc2.example.com', 'kea/dhcp.example.com', 'ann']) {
    await realm.addPrincipal(principal)
  }
  site = await Site.make('kerberos-updates', {
    dns: {
      domain: 'example.com',
      update: {
        types: ['TXT', 'A', 'AAAA'],
        gssTsig: {
          keytab,
          grants: [
            { principal: '*@EXAMPLE.COM', scope: 'self' },
            { principal: 'kea/*@EXAMPLE.COM', scope: 'dhcp.example.com' },
          ],
        },
      },
    },
  })
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  await waitUntil('the commit', async () => (await found('example.com. SOA')).startsWith('ns1.'), {
    timeoutMs: 20_000,
  })
}, 240_000)
beforeEach(() => realm.logout())
afterAll(async () => {
  realm.stop()
  await daemon?.stop()
  site?.remove()
  removeTempDir(path)
})

/** Data of all answers, sorted; the rcode where there are none. */
async function found(question: string): Promise<string> {
  const { rcode, answer } = await ask({ host: '127.0.0.1', port: daemon.dnsPort }, question)
  const data = answer.map(({ rdataText }) => rdataText).sort()
  return data.length === 0 ? `rcode ${rcode}` : data.join(' ')
}

/** @returns what nsupdate says: nothing where all is well */
async function update(lines: readonly string[], ...args: string[]): Promise<string> {
  const input = [`server 127.0.0.1 ${daemon.dnsPort}`, 'zone example.com.', ...lines, 'send', '']
  const all = ['-g', '-t', '5', '-r', '0', ...args]
  return (await saidBy('nsupdate', all, { input: input.join('\n'), env: realm.env })).text
}

async function writersOf(name: string): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/dns/written-records`, {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  const all = (await response.json()) as { name: string; writtenBy: string }[]
  return all.filter((one) => one.name === name).map(({ writtenBy }) => writtenBy)
}

test.each([
  ['PC1$', 'pc1.example.com.', []],
  ['host/pc2.example.com', 'pc2.example.com.', ['-v']],
  ['kea/dhcp.example.com', 'laptop.dhcp.example.com.', []],
])('%s writes %s', async (principal, name, args) => {
  await realm.login(principal)
  expect(await update([`update add ${name} 60 A 192.0.2.7`], ...args)).toBe('')
  expect(await found(`${name} A`)).toBe('192.0.2.7')
  expect(await writersOf(name)).toEqual([`kerberos:${principal}@EXAMPLE.COM`])
  expect(await update([`update delete ${name} A`], ...args)).toBe('')
  expect(await found(`${name} A`)).toBe('rcode 3')
})

test.each([
  ['PC1$', 'pc2.example.com.'],
  ['PC1$', 'x.pc1.example.com.'],
  ['kea/dhcp.example.com', 'www2.example.com.'],
  ['ann', 'ann.example.com.'],
])('%s is REFUSED %s', async (principal, name) => {
  await realm.login(principal)
  expect(await update([`update add ${name} 60 A 192.0.2.7`])).toMatch(/REFUSED/)
  expect(await found(`${name} A`)).toBe('rcode 3')
})

test('a keytab that is open to all, or not there, is told of before the start', async () => {
  const told = async (): Promise<readonly string[]> => {
    const settings = loadSettings({ file: site.settingsFile, env: {}, flags: {} })
    if (!settings.ok) throw new Error(settings.error.join())
    const { warnings } = await checkStart(settings.value, {})
    return warnings.filter((one) => one.includes('keytab'))
  }
  expect(await told()).toEqual([])
  chmodSync(keytab, 0o604)
  expect(await told()).toEqual([`${keytab} is open to all users: chmod o-rwx ${keytab}`])
  chmodSync(keytab, 0o600)
  renameSync(keytab, `${keytab}.away`)
  expect(await told()).toMatchObject([expect.stringContaining(`there is no file ${keytab}`)])
  renameSync(`${keytab}.away`, keytab)
})

test('without a ticket nsupdate sends nothing', async () => {
  expect(await update(['update add pc1.example.com. 60 A 192.0.2.7'])).toMatch(/[Cc]redential/)
})

test('a ticket for a key that the keytab has not is BADKEY until it has it', async () => {
  const other = join(path, 'other.keytab')
  await realm.exportKey(service, other)
  await realm.login('PC1$')
  const line = 'update add pc1.example.com. 60 A 192.0.2.8'
  expect(await update([line])).toMatch(/TKEY is unacceptable/)
  await waitUntil('the log to say why', () => daemon.log().some(isNoKey), { timeoutMs: 2_000 })
  await realm.addToKeytab(other, keytab)
  expect(await update([line])).toBe('')
  expect(await found('pc1.example.com. A')).toBe('192.0.2.8')
}, 60_000)

const isNoKey = ({ msg, reason }: LogLine): boolean =>
  msg === 'a client gets no key by Kerberos' && /key/i.test(String(reason))

/** The TKEY query of a collected message. */
const collected = (name: string): Buffer =>
  Buffer.from(readFileSync(join(corpus, `${name}.hex`), 'utf8').replace(/#.*|\s+/g, ''), 'hex')

/** @returns the rcode, and the error in the record */
async function negotiate(message: Buffer): Promise<string> {
  const client = await TcpClient.connect({ host: '127.0.0.1', port: daemon.dnsPort })
  client.send(message)
  const octets = await client.receive()
  client.destroy()
  const { rcode, answer } = decodeMessage(octets)
  return answer.length === 0 ? `${rcode}` : `${rcode} ${readTkey(octets)!.error}`
}

test('each collected TKEY query is answered, and none gets a key', async () => {
  const found: Record<string, string> = {}
  for (const file of readdirSync(corpus)) {
    const name = file.replace('.hex', '')
    found[name] = await negotiate(collected(name))
  }
  const rows = Object.groupBy(Object.entries(found), ([, said]) => said)
  const namesOf = (said: string): string[] => (rows[said] ?? []).map(([name]) => name).sort()
  expect(Object.keys(rows).sort()).toEqual(['0 0', '0 17', '0 19', '0 20', '0 21', '1'])
  // The library answers an empty token with the mechanisms that it knows.
  expect(namesOf('0 0')).toEqual(['key-empty', 'spnego-without-token'])
  expect(namesOf('0 19')).toEqual(['mode-65535', 'mode-diffie-hellman'])
  expect(namesOf('0 20')).toEqual(['delete', 'name-is-root'])
  expect(namesOf('0 17')).toContain('as-nsupdate')
})

test('over UDP a TKEY query is answered with TC', async () => {
  const server = { host: '127.0.0.1', port: daemon.dnsPort }
  const reply = decodeMessage(await exchangeUdp(server, collected('as-nsupdate')))
  expect([reply.tc, reply.rcode, reply.answer]).toEqual([true, 0, []])
})

test('half a negotiation, over and over, keeps no client away', async () => {
  const message = collected('spnego-without-token')
  const client = await TcpClient.connect({ host: '127.0.0.1', port: daemon.dnsPort })
  for (let i = 0; i < 3_000; i++) {
    message.write(i.toString().padStart(4, '0'), 13, 'latin1')
    client.send(message)
    expect(decodeMessage(await client.receive()).rcode).toBe(0)
  }
  client.destroy()
  await realm.login('PC1$')
  expect(await update(['update add pc1.example.com. 60 TXT "x"'])).toBe('')
}, 60_000)

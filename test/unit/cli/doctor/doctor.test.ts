// `gslbd doctor` on machines that lack something: each check finds it, and says what to do.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answers } from '#cli/doctor/answers.ts'
import { anycast } from '#cli/doctor/anycast.ts'
import { clock } from '#cli/doctor/clock.ts'
import { backups } from '#cli/doctor/disk.ts'
import { journal } from '#cli/doctor/journal.ts'
import { keys } from '#cli/doctor/keys.ts'
import { ports } from '#cli/doctor/ports.ts'
import { repository } from '#cli/doctor/repository.ts'
import { servers } from '#cli/doctor/servers.ts'
import { trust } from '#cli/doctor/trust.ts'
import { delegation } from '#cli/doctor/delegation.ts'
import { limits } from '#cli/doctor/limits.ts'
import type { Check, CheckedNode } from '#cli/doctor/check.ts'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import { loadSettings } from '#settings/settings.ts'
import { makeBareRepository } from '#gitops/source/origin.ts'
import { systemClock } from '#lib/clock.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Journal } from '#journal/journal.ts'
import { segmentFiles } from '#journal/segment-files.ts'
import { bundleOf, newSigningKey, smallModel } from '#test/support/bundle-models.ts'
import { backupName } from '#state/backup/backups.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { newPem, signerLine } from '#test/support/write-scene.ts'

/** @param yaml in JSON, over a data directory of its own */
function checkedNode(
  dataDir: string,
  yaml: object = {},
  env: CheckedNode['env'] = {},
): CheckedNode {
  const file = join(dataDir, 'gslbd.yaml')
  writeFileSync(file, JSON.stringify({ dataDir, ...yaml }))
  const settings = loadSettings({ file, env, flags: {} })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  return { settings: settings.value, env, zones: [], patienceMs: 5_000 }
}

/** `verdict: found` and what to do, a line each. */
async function lines(check: Check, node: CheckedNode): Promise<string> {
  const findings = await check.look(node)
  return findings.map(({ verdict, found, todo = '' }) => `${verdict}: ${found}; ${todo}`).join('\n')
}

function withKey(mode: number, pem = newPem()): string {
  const dataDir = tempDir('doctor')
  mkdirSync(join(dataDir, 'keys'))
  const path = join(dataDir, 'keys', 'node.pem')
  writeFileSync(path, pem)
  chmodSync(path, mode)
  return dataDir
}

describe('announced addresses', () => {
  test('are no concern of a node that announces none', async () => {
    expect(await lines(anycast, checkedNode(tempDir('doctor')))).toBe(
      'good: nothing is announced (anycast.driver is none); ',
    )
  })

  test('must be on this machine, be listened on, and have a daemon that can be told', async () => {
    const dataDir = tempDir('doctor')
    const bird = { socket: join(dataDir, 'bird.ctl') }
    const section = { driver: 'bird', addresses: ['192.0.2.1', '127.0.0.1'], bird }
    const said = await lines(
      anycast,
      checkedNode(dataDir, { anycast: section, dns: { listenAddr: '127.0.0.2' } }),
    )
    expect(said.split('\n')).toEqual([
      expect.stringMatching(/^bad: 192\.0\.2\.1 is no address of this machine.*ip address add/),
      'good: 127.0.0.1 is an address of this machine; ',
      expect.stringMatching(/^bad: dns\.listenAddr is 127\.0\.0\.2, which is none of/),
      expect.stringMatching(/^bad: BIRD at .*bird\.ctl: there is no such socket/),
    ])
  })
})

describe('ports', () => {
  test('are reported as taken or free', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    onTestFinished(() => void socket.close())
    const { port } = socket.address()
    const dns = { listenAddr: '127.0.0.1', port }
    const said = await lines(ports, checkedNode(tempDir('doctor'), { dns }))
    expect(said).toContain(`unknown: UDP ${port} of 127.0.0.1 (dns.port) is taken`)
    expect(said).toMatch(/TCP \d+ of 127\.0\.0\.1 \(dns\.port\) is/)
  })

  test('the ports of TLS and HTTPS are looked at where they are on', async () => {
    const files = { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' }
    const dns = { listenAddr: '192.0.2.1', tls: files, https: { enabled: true } }
    const said = await lines(ports, checkedNode(tempDir('doctor'), { dns }))
    expect(said).toContain('TCP 853 of 192.0.2.1 (dns.tls.port)')
    expect(said).toContain('TCP 443 of 192.0.2.1 (dns.https.port)')
    const off = checkedNode(tempDir('doctor'), { dns: { listenAddr: '192.0.2.1' } })
    expect(await lines(ports, off)).not.toMatch(/tls|https/)
  })

  test('a node that answers no DNS needs no port for it', async () => {
    const node = checkedNode(tempDir('doctor'), { roles: ['control'] })
    expect(await lines(ports, node)).toBe('')
    expect(await lines(answers, node)).toBe('good: this node answers no DNS, as roles says; ')
  })

  test('an address that this machine does not have', async () => {
    const dns = { listenAddr: '192.0.2.1', port: 5_353 }
    const said = await lines(ports, checkedNode(tempDir('doctor'), { dns }))
    expect(said).toContain(
      'bad: UDP 5353 of 192.0.2.1 (dns.port): this machine has no such address',
    )
  })
})

describe('keys', () => {
  test.each([
    ['of its owner alone', () => withKey(0o600), 'good: '],
    ['that others may read', () => withKey(0o644), 'run: chmod 600'],
    ['that is no key', () => withKey(0o600, 'x'), 'is no Ed25519 private key in PEM'],
    ['that is not there', () => tempDir('doctor'), 'unknown: '],
  ])('a key %s', async (_title, make, part) => {
    expect(await lines(keys, checkedNode(make()))).toContain(part)
  })

  test('a key for SSH that is not there', async () => {
    const gitops = { url: 'ssh://git@git.example.net/config.git' }
    const said = await lines(keys, checkedNode(tempDir('doctor'), { gitops }))
    expect(said).toContain('ssh_key is not there; make it with ssh-keygen')
  })

  test.each([
    [['dns', 'control'], '127.0.0.1', 'warning: GSLB_API_KEY is not set here'],
    [['dns'], '127.0.0.1', 'good: GSLB_API_KEY is not set here'],
    [['dns'], '192.0.2.1', 'warning: GSLB_API_KEY is not set here'],
  ])('for the API of a node of %j on %s', async (roles, listenAddr, part) => {
    const bundle = { urls: ['https://control.example.net'] }
    const yaml = { roles, api: { enabled: true, listenAddr, allowDevMode: true }, bundle }
    expect(await lines(keys, checkedNode(withKey(0o600), yaml))).toContain(part)
  })
})

describe('servers', () => {
  const record = {
    ...{ channel: 'main', seq: 7, commit: 'ab'.repeat(20), digest: 'cd'.repeat(32) },
    ...{ previous: '', serial: 7, issuedAtMs: 1, expiresAtMs: 2 },
  }

  test('sources of bundles are asked with the token, and their keys compared', async () => {
    const [known, other] = [newSigningKey(), newSigningKey()]
    const give = (key: typeof known) => async () =>
      startStandIn(({ path, headers }) =>
        path !== '/bundles/channels/main' || headers['authorization'] !== `Bearer ${token}`
          ? { status: 401 }
          : { status: 200, body: signChannelRecord(record, key) },
      )
    const token = 'x'.repeat(40)
    const [right, wrong] = [await give(known)(), await give(other)()]
    const dataDir = tempDir('doctor')
    const pem = known.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    writeFileSync(join(dataDir, 'bundle_keys'), pem)
    const said = (urls: string[], env = {}) =>
      lines(servers, checkedNode(dataDir, { roles: ['dns'], bundle: { urls } }, env))
    const env = { GSLB_BUNDLE_TOKEN: token }
    expect(await said([right.url], env)).toMatch(/^good: .* gives seq 7, by a key of bundle\.keys/)
    expect(await said([wrong.url], env)).toMatch(/^bad: .*signs with a key that is not in .*reload/)
    expect(await said([right.url])).toMatch(/^bad: .*401.*; set GSLB_BUNDLE_TOKEN as on/)
    const [first, second] = (await said(['http://127.0.0.1:9', right.url], env)).split('\n')
    expect(first, 'one source of use is enough').toMatch(/^warning: .*gives no bundle/)
    expect(second).toMatch(/^good: /)
    const pems = pem + other.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    writeFileSync(join(dataDir, 'bundle_keys'), pems)
    const [, , third] = (await said([right.url, wrong.url], env)).split('\n')
    expect(third, 'two that count apart').toMatch(
      /^warning: .*keys of their own.*\(rollback\); see/,
    )
    expect(await said([right.url, right.url], env)).not.toContain('warning')
  })

  test('a database and a Redis that are not there', async () => {
    const yaml = {
      database: { url: 'postgresql://gslbd@127.0.0.1:9/gslbd' },
      redis: { url: 'redis://127.0.0.1:9' },
    }
    const node = { ...checkedNode(tempDir('doctor'), yaml), patienceMs: 300 }
    const [one, two] = (await lines(servers, node)).split('\n')
    expect(one).toMatch(/^bad: database\.url: .*\(ECONNREFUSED\); see docs/)
    expect(two).toMatch(/^warning: redis\.url: Redis (is|was) not reached/)
    expect(await lines(servers, checkedNode(tempDir('doctor')))).toMatch(/^good: /)
  })
})

describe('trust', () => {
  test.each([
    ['no file', undefined, 'bad: ', 'gslbd trust add'],
    ['an empty file', '', 'bad: ', 'lists no Ed25519 key'],
    ['a key', signerLine('alice@example.com', newPem()), 'good: ', 'has 1 keys'],
  ])('%s', async (_title, content, verdict, part) => {
    const dataDir = tempDir('doctor')
    if (content !== undefined) writeFileSync(join(dataDir, 'allowed_signers'), content)
    const said = await lines(trust, checkedNode(dataDir))
    expect(said).toContain(verdict)
    expect(said).toContain(part)
  })

  test('a node of the role dns needs the keys that sign bundles', async () => {
    const yaml = { roles: ['dns'], bundle: { urls: ['https://control.example.net'] } }
    const said = await lines(trust, checkedNode(tempDir('doctor'), yaml))
    expect(said).toContain('bundle_keys does not exist')
  })
})

describe('repository', () => {
  test('that is missing, without the branch, or at an unknown address', async () => {
    const dataDir = tempDir('doctor')
    expect(await lines(repository, checkedNode(dataDir))).toContain('unknown: ')
    makeBareRepository(join(dataDir, 'config.git'), 'main')
    expect(await lines(repository, checkedNode(dataDir))).toContain('has no branch main; push it')
    const GSLB_GITOPS_URL = 'http://alice:hidden@127.0.0.1:2/config.git'
    const said = await lines(repository, checkedNode(dataDir, {}, { GSLB_GITOPS_URL }))
    expect(said).toMatch(/^bad: http:\/\/127.0.0.1:2\/config.git: Failed to connect .*gitops.url/)
    expect(said).not.toContain('hidden')
  })
})

describe('journal', () => {
  const silent = (): void => undefined
  const written = async (dataDir: string): Promise<string> => {
    const directory = join(dataDir, 'journal')
    const kept = new Journal({
      ...{ directory, bytesMax: 1e8, ageMaxMs: 1e10, node: 'n1', version: '0', clock: systemClock },
      log: { info: silent, warn: silent, error: silent },
    })
    const bundle = bundleOf(smallModel)
    const state = createRoutingState(bundle, 1)
    kept.serves({ digest: bundle.digest, commit: 'c', seq: 1 }, bundle, state)
    await kept.stop()
    return segmentFiles(directory)[0]!.path
  }

  test('that is missing, well, or truncated', async () => {
    const dataDir = tempDir('doctor')
    expect(await lines(journal, checkedNode(dataDir))).toContain('unknown: there is none yet')
    const path = await written(dataDir)
    expect(await lines(journal, checkedNode(dataDir))).toContain(
      'good: 0.0 MiB, the last record of',
    )
    truncateSync(path, statSync(path).size - 1)
    utimesSync(path, 1, 1)
    expect(await lines(journal, checkedNode(dataDir))).toContain(
      'warning: the newest part of the journal ends within a record',
    )
  })

  test.each([
    [{ journal: { enabled: false } }, 'unknown: journal.enabled is false'],
    [{ roles: ['control'] }, 'unknown: this node answers no DNS'],
  ])('a node with %j has none', async (yaml, said) => {
    expect(await lines(journal, checkedNode(tempDir('doctor'), yaml))).toContain(said)
  })
})

describe('backups', () => {
  const hourMs = 3_600_000
  const withBackup = (agoMs: number | null, enabled = true, interval = '1h'): CheckedNode => {
    const dataDir = withKey(0o600)
    const directory = join(dataDir, 'backups')
    if (agoMs !== null) {
      mkdirSync(directory)
      writeFileSync(join(directory, backupName(systemClock.nowMs() - agoMs)), '')
    }
    return checkedNode(dataDir, { backup: { enabled, interval, directory } })
  }

  test.each([
    [
      'one of an hour ago',
      () => withBackup(hourMs),
      /^good: the newest is 60 min old in .*backups/,
    ],
    ['one of three hours ago', () => withBackup(3 * hourMs), /^warning: the newest is 3 h .*log/],
    ['that are taken each day', () => withBackup(30 * hourMs, true, '24h'), /^good: /],
    ['none', () => withBackup(null), /^warning: there is none in .*see the log/],
    ['none that is whole', () => withBackup(-hourMs), /^warning: there is none/],
    ['that nobody wants', () => withBackup(null, false), /^unknown: backup.enabled is false/],
  ])('%s', async (_what, node, said) => {
    expect(await lines(backups, node())).toMatch(said)
  })

  test('a node that has stored nothing has none yet, and one of the role dns never', async () => {
    const backup = { enabled: true, directory: join(tempDir('doctor'), 'none') }
    expect(await lines(backups, checkedNode(tempDir('doctor'), { backup }))).toMatch(
      /^unknown: there is none .*has stored nothing yet/,
    )
    const bundle = { urls: ['https://control.example.net'] }
    expect(
      await lines(backups, checkedNode(tempDir('doctor'), { roles: ['dns'], bundle })),
    ).toMatch(/^good: this node has nothing that is backed up/)
  })
})

describe('clock', () => {
  test.each([
    [0, 'good: the clock is that of'],
    [-30_000, 'warning: '],
    [3_600_000, 'bad: '],
  ])('a server that is off by %i ms', async (offMs, part) => {
    const date = new Date(Date.now() + offMs).toUTCString()
    const { url } = await startStandIn(() => ({ status: 404, headers: { date } }))
    const said = await lines(
      clock,
      checkedNode(tempDir('doctor'), { gitops: { url: `${url}/x.git` } }),
    )
    expect(said).toContain(part)
  })

  test('with nobody to ask, and with one who does not answer, it is unknown', async () => {
    expect(await lines(clock, checkedNode(tempDir('doctor')))).toContain('unknown: not compared')
    const gitops = { url: 'http://127.0.0.1:2/x.git' }
    const said = await lines(clock, checkedNode(tempDir('doctor'), { gitops }))
    expect(said).toContain('unknown: not compared: http://127.0.0.1:2 does not answer')
  })
})

test('more TCP connections than open files are a warning with the number to set', async () => {
  const dns = { tcp: { maxConnections: 100_000 } }
  const said = await lines(limits, checkedNode(tempDir('doctor'), { dns }))
  expect(said).toMatch(/allow 101024|unlimited open files|\d{6,} open files are allowed/)
})

test('a delegation that no resolver knows of is unknown', async () => {
  const dns = { resolvers: ['127.0.0.1:2'] }
  const zones = [{ name: 'example.com.', nameservers: ['ns1.example.com.'] }]
  const node = { ...checkedNode(tempDir('doctor'), { dns }), zones, patienceMs: 200 }
  expect(await lines(delegation, node)).toContain('unknown: example.com.: no resolver')
})

describe('the command', () => {
  test('prints a table, and ends with 1 when something is bad', async () => {
    const dataDir = withKey(0o644)
    const run = await runCli('doctor', '--data-dir', dataDir)
    expect(run.exit).toBe(1)
    expect(run.out).toMatch(/^keys +bad +.*node\.pem can be used by others/m)
    expect(run.out).toMatch(/^ +run: chmod 600 /m)
    expect(run.out).toMatch(/^\d+ bad, (1 warning|(?!1 )\d+ warnings), \d+ unknown$/m)
  })

  test('ends with 0 when nothing is', async () => {
    const dataDir = withKey(0o600)
    writeFileSync(join(dataDir, 'allowed_signers'), signerLine('a@example.com', newPem()))
    const { settings } = checkedNode(dataDir, { dns: { listenAddr: '127.0.0.1', port: 0 } })
    const run = await runCli('doctor', '--settings', settings.file ?? '', '--json')
    const findings = JSON.parse(run.out) as { check: string; verdict: string }[]
    const bad = findings.filter(({ verdict }) => verdict === 'bad')
    // How much room the disk of the tests has is not ours.
    expect(bad.filter(({ check }) => check !== 'disk')).toEqual([])
    expect(run.exit).toBe(bad.length === 0 ? 0 : 1)
  })

  test('settings that cannot be read', async () => {
    const run = await runCli('doctor', '--settings', '/nowhere.yaml')
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain('there is no such file')
  })
})

// The page from nothing to two sites, walked on two machines that systemd has booted. Its commands
// run as they stand there, but for how the package is installed (packages.test.ts), the address of
// the Git remote, the authority of the certificate, and how two files get to site B.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { cpSync, linkSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BootedSystem, lackedHere } from '#test/support/booted-system.ts'
import { debianPackage } from '#test/support/debian-package.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const source = join(import.meta.dirname, '../..')
const page = readFileSync(join(source, 'docs/operations/production.md'), 'utf8')
const hosts = '10.77.0.1 control.example.net git.example.net\n10.77.0.2 b.example.net'
const remote = 'http://git.example.net:8081/config.git'
const address = '192.0.2.1'

/** The indented blocks of a numbered section of the page. */
function blocksOf(section: number): readonly string[] {
  const [, text = ''] = page.split(new RegExp(`^## ${section}\\. .*$`, 'm'))
  const [own = ''] = text.split(/^## /m)
  const blocks = own.match(/(?:^ {4}.*\n)+/gm) ?? []
  return blocks.map((block) => block.replaceAll(/^ {4}/gm, ''))
}

const block = (section: number, index = 0): string => {
  const found = blocksOf(section)[index]
  if (found === undefined) throw new Error(`section ${section} has no block ${index}`)
  return found
}

/** The lines of a block for one of the two machines. */
const linesOn = (site: 'A' | 'B', text: string): string =>
  text
    .split('\n')
    .filter((line) => line.endsWith(`# on ${site}`))
    .join('\n')

let work: string
let site: Site
let git: ChildProcess
let a: BootedSystem
let b: BootedSystem

/** As somebody who administers the machine, in a directory of their own. */
const at = (machine: BootedSystem, script: string): Promise<string> =>
  machine.shell(`cd /root\nexport HOME=/root\n${script}`)

const put = (machine: BootedSystem, path: string, content: string): Promise<string> =>
  at(
    machine,
    `mkdir -p "$(dirname ${path})"\ncat >${path} <<'END-OF-FILE'\n${content}\nEND-OF-FILE`,
  )

const answerOf = (machine: BootedSystem): Promise<string> =>
  machine.run('dig', '@127.0.0.1', '+short', 'www.example.com.', 'A')

/** A machine with the package, and with `sudo` where this one has none. */
async function boot(name: string, deb: string): Promise<BootedSystem> {
  const folder = join(work, name)
  mkdirSync(folder)
  linkSync(deb, join(folder, 'gslbd.deb'))
  const machine = await BootedSystem.boot(folder)
  const sudo = `#!/bin/sh
if [ "$1" = -u ]; then user=$2; shift 2; exec runuser -u "$user" -- "$@"; fi
exec "$@"`
  await machine.shell(`hostname ${name}
    printf '${hosts.replace('\n', '\\n')}\\n' >>/etc/hosts
    rm -f /var/lib/man-db/auto-update`)
  await put(machine, '/tmp/sudo', sudo)
  await machine.shell(`command -v sudo >/dev/null || install /tmp/sudo /usr/bin/sudo
    dpkg --force-depends,unsafe-io --install /mnt/gslbd.deb`)
  return machine
}

/** A cable between the two. */
function link(): void {
  const [, inA = ''] = a.beforeInNetwork
  const [, inB = ''] = b.beforeInNetwork
  const leader = /\d+/.exec(inB)?.[0] ?? ''
  const ip = (where: string, ...args: string[]): unknown =>
    execFileSync('nsenter', [where, 'ip', ...args])
  ip(inA, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', leader)
  ip(inA, 'address', 'add', '10.77.0.1/24', 'dev', 'cable')
  ip(inB, 'address', 'add', '10.77.0.2/24', 'dev', 'cable')
  for (const where of [inA, inB]) ip(where, 'link', 'set', 'cable', 'up')
}

function bootMachines(): void {
  beforeAll(async () => {
    work = makeTempDir('production')
    const deb = debianPackage(work)
    site = await Site.make('production')
    await site.push()
    cpSync(join(site.dataDir, 'config.git'), join(work, 'git/config.git'), { recursive: true })
    a = await boot('a', deb)
    b = await boot('b', deb)
    link()
    const server = join(source, 'bench/chaos/git-server.ts')
    const words = [...a.beforeInNetwork, process.execPath, server, join(work, 'git')]
    const [program = '', ...more] = [...words, '10.77.0.1', '8081']
    git = spawn(program, more, { stdio: 'ignore' })
  })
  afterAll(async () => {
    git.kill('SIGKILL')
    await Promise.all([a.end(), b.end()])
    site.remove()
    removeTempDir(work)
  })
}

function siteTests(): void {
  test('keys: the node believes alice, and names its own', async () => {
    await put(a, 'alice.pub', readFileSync(`${site.keyPath}.pub`, 'utf8'))
    const asks = /^.* --create-admin .*$/m
    const told = `printf 'alice@example.com\\ncorrect horse\\n' | $&`
    const listed = await at(a, block(2).replace(asks, told))
    expect(listed).toContain('alice@example.com is system administrator')
    expect(listed).toMatch(/^alice@example\.com /m)
    expect(listed).toMatch(/^node@gslbd /m)
  })

  test('the repository: site A answers what it says', async () => {
    const told = block(3).replace(/https:\S*git\.example\.net[^']*/, remote)
    expect(told).toContain(remote)
    await at(a, told)
    await waitUntil('an answer of A', async () => (await answerOf(a)) === address)
  })

  test('a proxy with the very file of the page speaks TLS', async () => {
    await put(a, '/etc/caddy/Caddyfile', block(4).replace('{', '{\n  tls internal'))
    await at(a, 'caddy start --config /etc/caddy/Caddyfile >/dev/null 2>&1')
    const root = '$HOME/.local/share/caddy/pki/authorities/local/root.crt'
    const authority = await waitUntil('its authority', () =>
      at(a, `cat "${root}" 2>/dev/null || true`),
    )
    await put(b, '/etc/gslbd/ca.pem', authority)
    const health = 'https://control.example.net/api/v1/health'
    const ask = `curl -s --cacert /etc/gslbd/ca.pem ${health} || true`
    await waitUntil('its health', async () => (await at(b, ask)).includes('"status":"ok"'))
  })

  test('site B gets the bundle, and answers', async () => {
    const [onA, onB] = [linesOn('A', block(5)), linesOn('B', block(5))]
    expect(onA).toContain('\nscp ')
    await at(a, onA.replace(/^scp .*$/m, ''))
    for (const file of ['bundle_keys', 'b.environment']) {
      await put(b, file, await at(a, `cat ${file}`))
    }
    await at(b, onB)
    await at(b, 'echo NODE_EXTRA_CA_CERTS=/etc/gslbd/ca.pem >>/etc/gslbd/environment')
    await put(b, '/etc/gslbd/gslbd.yaml', block(5, 1))
    await at(b, block(5, 2).replace(/^dig .*$/m, ''))
    await waitUntil('an answer of B', async () => (await answerOf(b)) === address)
  })
}

function operationTests(): void {
  test('look: nothing is bad on either, and A knows both', async () => {
    const [doctor = '', status = '', top = ''] = block(6).trim().split('\n')
    for (const machine of [a, b]) {
      expect(await at(machine, doctor)).toMatch(/^0 bad, 0 warnings, /m)
      expect(await at(machine, top)).toMatch(/^queries\/s /m)
      expect(await at(machine, status)).toMatch(/^health +ok$/m)
    }
    await waitUntil('both nodes', async () => /^b +ok /m.test(await at(a, status)))
  })

  test('monitoring: both are read with the token, and not without', async () => {
    const read = 'curl -s -o /dev/null -w "%{http_code} " --cacert /etc/gslbd/ca.pem'
    const urls = 'https://control.example.net/metrics http://b.example.net:8080/metrics'
    const codes = await at(
      b,
      `. /etc/gslbd/environment
      for url in ${urls}; do
        ${read} -H "Authorization: Bearer $GSLB_METRICS_TOKEN" $url
        ${read} $url
      done
      test -s /usr/share/doc/gslbd/prometheus/alerts.yaml`,
    )
    expect(codes.trim().split(' ')).toEqual(['200', '401', '200', '401'])
  })

  test('backups: one is made, and can be read', async () => {
    await at(a, block(8))
    const files = 'ls /var/lib/gslbd/backups 2>/dev/null || true'
    await waitUntil('a backup', async () => (await at(a, files)).endsWith('.db'), {
      timeoutMs: 60_000,
    })
    expect(await at(a, block(8, 1))).toMatch(/^\d+ rows restored$/m)
    expect(await answerOf(a)).toBe(address)
  })
}

const lacked = lackedHere()
if (lacked === undefined) {
  describe('two machines that systemd has booted', () => {
    bootMachines()
    siteTests()
    operationTests()
  })
} else
  test(`this machine cannot show it: ${lacked}`, () => {
    process.stderr.write(`production-page.test.ts shows nothing of the page: ${lacked}\n`)
  })

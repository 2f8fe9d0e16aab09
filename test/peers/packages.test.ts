// The Debian package: installed, started, upgraded, removed and purged by dpkg, below a directory
// of its own, and on a machine that systemd has booted. The npm package, the image, and the unit,
// as systemd judges it. To boot a machine and to build an image takes root that may mount, as CI
// has it: without, one test says that nothing was shown.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { productPackages } from '#bin/program-tree.ts'
import { QueryStream } from '#test/support/anycast-network.ts'
import { BootedSystem, lackedHere } from '#test/support/booted-system.ts'
import { BuiltImage } from '#test/support/built-image.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { debianPackage } from '#test/support/debian-package.ts'
import { freePort } from '#test/support/free-port.ts'
import { Namespaces } from '#test/support/namespaces.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const source = join(import.meta.dirname, '../..')
let work: string
let root: string
let first: string

beforeAll(() => {
  work = makeTempDir('deb')
  root = join(work, 'root')
  for (const folder of ['info', 'updates', 'triggers']) {
    mkdirSync(join(root, 'var/lib/dpkg', folder), { recursive: true })
  }
  writeFileSync(join(root, 'var/lib/dpkg/status'), '')
  first = debianPackage(work)
})
afterAll(() => removeTempDir(work))

/** Scripts run outside of the directory, with DPKG_ROOT, as dpkg does where there is no chroot. */
function dpkg(...args: string[]): string {
  const force = ['not-root', 'script-chrootless', 'depends', 'bad-path', 'confold', 'unsafe-io']
  const forced = force.map((what) => `--force-${what}`)
  const places = [`--instdir=${root}`, `--admindir=${root}/var/lib/dpkg`, `--log=${work}/log`]
  return execFileSync('dpkg', [...forced, ...places, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

const at = (path: string): string => join(root, path)

function statusOf(): string {
  const args = [`--admindir=${root}/var/lib/dpkg`, '-W', '-f', '${Status} ${Version}', 'gslbd']
  return execFileSync('dpkg-query', args, { encoding: 'utf8' })
}

/** The same package with a higher version. */
function nextVersion(): string {
  const tree = join(work, 'tree')
  execFileSync('dpkg-deb', ['--raw-extract', first, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 99.0.0'))
  const file = join(work, 'next.deb')
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file])
  rmSync(tree, { recursive: true })
  return file
}

test('a package that is not whole does not take the place of an older one', () => {
  const [folder, programs] = [join(work, 'failing'), join(work, 'programs')]
  for (const each of [folder, programs]) mkdirSync(each)
  const older = join(folder, basename(first))
  writeFileSync(older, 'older')
  const failing = '#!/bin/sh\nfor path; do :; done\nprintf half >"$path"; exit 1\n'
  writeFileSync(join(programs, 'dpkg-deb'), failing, { mode: 0o755 })
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` }
  const args = [join(source, 'bin/package-deb.ts'), '--built', '--output', folder]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: source, env })
  expect({ status, said: stderr.toString() }).toEqual({
    status: 70,
    said: expect.stringContaining('dpkg-deb failed (1)') as string,
  })
  expect(readdirSync(folder)).toEqual([basename(first)])
  expect(readFileSync(older, 'utf8')).toBe('older')
})

test('the package installs: program, unit, settings, man page and completions', () => {
  dpkg('--install', first)
  expect(statusOf()).toMatch(/^install ok installed /)
  for (const path of [
    'usr/lib/gslbd/dist/cli/main.js',
    'usr/lib/gslbd/dist/licences.txt',
    'usr/lib/gslbd/dist/ui/licences.txt',
    'usr/lib/gslbd/NOTICE',
    'usr/lib/gslbd/node_modules/node/LICENSE',
    'usr/lib/gslbd/node_modules/koffi/package.json',
    'lib/systemd/system/gslbd.service',
    'etc/gslbd/gslbd.yaml',
    'usr/share/man/man1/gslbd.1',
    'usr/share/bash-completion/completions/gslbd',
    'var/lib/gslbd',
  ]) {
    expect([path, existsSync(at(path))]).toEqual([path, true])
  }
  const out = execFileSync(at('usr/bin/gslbd'), ['--version'], { encoding: 'utf8' })
  expect(out).toMatch(/^gslbd \d/)
  const settings = ['check-settings', at('etc/gslbd/gslbd.yaml')]
  expect(execFileSync(at('usr/bin/gslbd'), settings, { encoding: 'utf8' })).toContain(
    'a node takes',
  )
})

const { spawnProgram } = useDaemons()

test('the service starts, and answers', async () => {
  const file = join(work, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(
    file,
    JSON.stringify({ dataDir: at('var/lib/gslbd'), dns, api: { enabled: true, port: 0 } }),
  )
  const daemon = spawnProgram(at('usr/lib/gslbd/dist/cli/main.js'), 'serve', '--settings', file)
  await daemon.running()
  // Nobody has pushed anything: each query is refused, by us.
  expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
  // A thread that loads WebAssembly from its package.
  const database = at('var/lib/gslbd/database/PG_VERSION')
  await waitUntil('its database', () => existsSync(database), { timeoutMs: 60_000 })
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('an upgrade keeps the settings that somebody has changed, and the data', () => {
  const changed = readFileSync(at('etc/gslbd/gslbd.yaml'), 'utf8') + '# mine\n'
  writeFileSync(at('etc/gslbd/gslbd.yaml'), changed)
  dpkg('--install', nextVersion())
  expect(statusOf()).toBe('install ok installed 99.0.0')
  expect(readFileSync(at('etc/gslbd/gslbd.yaml'), 'utf8')).toBe(changed)
  expect(existsSync(at('var/lib/gslbd/keys/node.pem'))).toBe(true)
})

test('a removal leaves settings and data, a purge nothing', () => {
  dpkg('--remove', 'gslbd')
  expect(existsSync(at('usr/lib/gslbd/dist'))).toBe(false)
  expect(existsSync(at('etc/gslbd/gslbd.yaml'))).toBe(true)
  expect(existsSync(at('var/lib/gslbd/keys/node.pem'))).toBe(true)
  dpkg('--purge', 'gslbd')
  expect(existsSync(at('etc/gslbd'))).toBe(false)
  expect(existsSync(at('var/lib/gslbd'))).toBe(false)
})

/** As npm installs it; the few packages that it needs are the ones of the checkout. */
function installNpmPackage(): string {
  // The build is there: the Debian package has the same.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', work]
  const packed = execFileSync('npm', pack, { cwd: source, encoding: 'utf8', stdio: 'pipe' })
  expect(packed).not.toMatch(
    /"path": "(?!dist\/|bin\/gslbd"|package\.json"|LICENSE"|NOTICE"|README\.md")/,
  )
  expect(packed).toContain('"path": "NOTICE"')
  const modules = join(work, 'npm/node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const tarball = join(work, readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '')
  execFileSync('tar', ['-xzf', tarball, '-C', modules])
  renameSync(join(modules, 'package'), join(modules, 'gslbd'))
  for (const folder of productPackages()) {
    const place = join(modules, relative(join(source, 'node_modules'), folder))
    mkdirSync(dirname(place), { recursive: true })
    cpSync(folder, place, { recursive: true })
  }
  symlinkSync('../gslbd/bin/gslbd', join(modules, '.bin/gslbd'))
  return modules
}

test('the npm package has no more than it needs, runs, and answers', async () => {
  const modules = installNpmPackage()
  const program = join(modules, '.bin/gslbd')
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(`gslbd ${version}\n`)
  const file = join(work, 'npm.yaml')
  const [tls, https] = [await freePort(), await freePort()]
  const secure = { tls: { port: tls, ...makeTlsFiles(work, 'ns.example') } }
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1, ...secure }
  const overHttps = { ...dns, https: { enabled: true, port: https } }
  const settings = { dataDir: join(work, 'npm-data'), dns: overHttps, api: { enabled: false } }
  writeFileSync(file, JSON.stringify(settings))
  const main = join(modules, 'gslbd/dist/cli/main.js')
  const daemon = spawnProgram(main, 'serve', '--settings', file)
  await daemon.running()
  expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
  for (const [how, port] of [['tls', tls] as const, ['https', https] as const]) {
    const asked = ['@127.0.0.1', '-p', `${port}`, `+${how}`, 'www.example.com', 'A']
    expect(execFileSync('kdig', asked, { encoding: 'utf8' })).toContain('status: REFUSED')
  }
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('systemd finds the unit exposed to no more than 2.0', () => {
  const unit = join(source, 'deploy/systemd/gslbd.service')
  const args = ['security', '--offline=true', '--no-pager', '--threshold=20', unit]
  const said = execFileSync('systemd-analyze', args, { encoding: 'utf8' })
  expect(said).toMatch(/Overall exposure level for gslbd\.service: [01]\.\d/)
})

const unit = 'gslbd.service'
const address = '192.0.2.1'
const lacked = lackedHere()
let site: Site
let machine: BootedSystem

const install = (file: string): Promise<string> =>
  machine.run('dpkg', '--force-depends,unsafe-io', '--install', `/mnt/${file}`)
const mainPid = async (): Promise<number> => Number(await machine.property(unit, 'MainPID'))
const answer = (): Promise<string> =>
  machine.run('dig', '@127.0.0.1', '+short', 'www.example.com.', 'A')

/** Each line of the journal of the unit, systemd's among them. */
async function journal(): Promise<readonly string[]> {
  return (await machine.run('journalctl', '--unit', unit, '--output', 'cat')).split('\n')
}

function bootMachine(): void {
  beforeAll(async () => {
    site = await Site.make('systemd')
    await site.push()
    for (const file of ['config.git', 'allowed_signers']) {
      cpSync(join(site.dataDir, file), join(work, file), { recursive: true })
    }
    machine = await BootedSystem.boot(work)
    // Shorter than the 30 s of the unit, for what a test has to wait.
    const folder = `/etc/systemd/system/${unit}.d`
    await machine.shell(`mkdir ${folder}; printf '[Service]\\nWatchdogSec=20\\n' >${folder}/t.conf
      rm -f /var/lib/man-db/auto-update`)
  })
  afterAll(async () => {
    await machine.end()
    site.remove()
  })
}

function installationTests(): void {
  test('the installation starts the unit, which is active when the node said READY', async () => {
    await install(basename(first))
    expect(await machine.state(unit)).toBe('active')
    expect(await machine.property(unit, 'StatusText')).toBe('gslbd is running')
    const said = await journal()
    const runs = said.findIndex((line) => line.includes('"msg":"gslbd is running"'))
    expect(runs).toBeGreaterThan(0)
    expect(said.findIndex((line) => line.startsWith('Started gslbd'))).toBeGreaterThan(runs)
    expect(await machine.run('systemctl', 'is-enabled', unit)).toBe('enabled')
  })

  test('the service runs as its own user, with the right to low ports and no other', async () => {
    const status = await machine.run('cat', `/proc/${await mainPid()}/status`)
    const uid = await machine.run('id', '--user', 'gslbd')
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'))
    // CAP_NET_BIND_SERVICE is bit 10.
    for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toContain(`${set}:\t0000000000000400\n`)
    }
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  })

  test('systemd finds the loaded unit exposed to no more than 2.0', async () => {
    const said = await machine.run('systemd-analyze', 'security', '--threshold=20', unit)
    expect(said).toMatch(/Overall exposure level for gslbd\.service: [01]\.\d/)
  })
}

function restartTests(): void {
  test('a restart reads the repository, and answers', async () => {
    const before = await mainPid()
    await machine.shell(`cp -r /mnt/config.git /mnt/allowed_signers /var/lib/gslbd
      chown -R gslbd: /var/lib/gslbd
      systemctl restart ${unit}`)
    expect(await mainPid()).not.toBe(before)
    await waitUntil('an answer', async () => (await answer()) === address)
  })

  test('a reload with settings that are wrong fails, and the node goes on', async () => {
    const before = await mainPid()
    const file = '/etc/gslbd/gslbd.yaml'
    await machine.run('sed', '-i', 's/port: 53 /port: none /', file)
    await expect(machine.run('systemctl', 'reload', unit)).rejects.toThrow('Job for')
    await machine.run('sed', '-i', 's/port: none /port: 53 /', file)
    expect((await journal()).join('\n')).toContain('dns.port is "none"')
    expect([await mainPid(), await answer()]).toEqual([before, address])
  })

  test('an upgrade takes the place of the running node, and no query is lost', async () => {
    const before = await mainPid()
    const script = join(source, 'test/support/query-stream.ts')
    const words = [...machine.beforeInNetwork, process.execPath, script]
    const [program = '', ...args] = [...words, '127.0.0.1', 'www.example.com.']
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const client = new QueryStream(child)
    await install('next.deb')
    const { asked, lost, answers } = await client.report()
    child.kill('SIGKILL')
    expect({ lost, answers: answers.map((one) => one.address) }).toEqual({
      lost: 0,
      answers: [address],
    })
    expect(asked).toBeGreaterThan(100)
    expect(await mainPid()).not.toBe(before)
    expect(await machine.state(unit)).toBe('active')
    expect(await machine.property(unit, 'NRestarts')).toBe('0')
  })

  test('the watchdog has a node that hangs started again, also a replaced one', async () => {
    const before = await mainPid()
    const fed = (): Promise<string> => machine.property(unit, 'WatchdogTimestampMonotonic')
    const first = await fed()
    await waitUntil('a sign of life', async () => (await fed()) !== first)
    expect(await mainPid()).toBe(before)
    await machine.run('kill', '-STOP', String(before))
    await waitUntil('another process', async () => {
      const [pid, state] = [await mainPid(), await machine.state(unit)]
      return pid !== before && state === 'active'
    })
    expect((await journal()).join('\n')).toContain('Watchdog timeout')
    expect(await answer()).toBe(address)
  })

  test('a purge leaves no process, file, unit or user', async () => {
    await machine.run('dpkg', '--purge', 'gslbd')
    expect(await machine.property(unit, 'LoadState')).toBe('not-found')
    const left = await machine.shell(`ls -d /usr/lib/gslbd /usr/bin/gslbd /etc/gslbd \
      /var/lib/gslbd /var/cache/gslbd /lib/systemd/system/${unit} \
      /etc/systemd/system/*.wants/${unit} 2>/dev/null || true
      getent passwd gslbd || true
      cat /sys/fs/cgroup/system.slice/${unit}/cgroup.procs 2>/dev/null || true`)
    expect(left).toBe('')
  })
}

function imageTests(): void {
  let image: BuiltImage
  let spaces: Namespaces
  let before: readonly string[]
  let volume: string
  const health = (): Promise<string> => image.run(before, ...image.config.Healthcheck.Test.slice(1))
  const holder = (): number => Number(readFileSync(join(volume, 'lock'), 'utf8').split(' ')[0])

  beforeAll(async () => {
    const site = await Site.make('image')
    await site.push()
    volume = join(work, 'volume')
    mkdirSync(volume)
    for (const file of ['config.git', 'allowed_signers']) {
      cpSync(join(site.dataDir, file), join(volume, file), { recursive: true })
    }
    site.remove()
    image = new BuiltImage(work, first)
    // The ports of the image are free in a network of its own.
    spaces = await Namespaces.make('container')
    before = spaces.beforeAsSelf('container')
  })
  afterAll(() => spaces.remove())

  test('the image has the program and git, for a user of its own', async () => {
    expect(await image.run(before, ...image.config.Entrypoint, '--version')).toMatch(/^gslbd \d/)
    expect(await image.run(before, 'git', '--version')).toMatch(/^git version/)
    expect(await image.run(before, 'id')).toMatch(/^uid=5353\(gslbd\) gid=5353\(gslbd\)/)
    await expect(health()).rejects.toThrow()
  })

  test('the container starts by itself, is healthy when ready, answers, and stops', async () => {
    execFileSync('chown', ['-R', '5353:5353', volume])
    // As Kubernetes gives a volume to a group: its root is another's.
    execFileSync('chown', ['root:5353', volume])
    execFileSync('chmod', ['2775', volume])
    const child = image.start(before, volume)
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (said += text))
    const ended = once(child, 'close')
    try {
      await waitUntil('its health', async () => {
        if (child.exitCode !== null) throw new Error(said)
        return (await health()) === ''
      })
      const words = ['dig', '-p', '5353', '@127.0.0.1', '+short', 'www.example.com.', 'A']
      const [program = '', ...args] = [...before, ...words]
      expect(execFileSync(program, args, { encoding: 'utf8' }).trim()).toBe(address)
      expect(statSync(`/proc/${holder()}`).uid).toBe(5353)
      process.kill(holder(), 'SIGTERM')
      expect(await ended).toEqual([0, null])
    } finally {
      if (existsSync(join(volume, 'lock'))) process.kill(holder(), 'SIGKILL')
    }
  })
}

if (lacked === undefined) {
  describe('on a machine that systemd has booted', () => {
    bootMachine()
    installationTests()
    restartTests()
  })
  describe('in a container', imageTests)
} else
  test(`this machine cannot show it: ${lacked}`, () => {
    process.stderr.write(`packages.test.ts shows nothing of systemd and the image: ${lacked}\n`)
  })

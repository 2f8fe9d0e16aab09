// A signed zone of a whole process, as an operator has it: one line in gslb.yaml, the DS record
// that `gslbd dnssec ds` prints, and delv, which believes that record alone.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { saidBy } from '#test/support/said-by.ts'
import { poolYaml, poolPath, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'example.com.'
const settings = (dnssec: string): string => `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - { name: ${zone}${dnssec} }
  defaults:
    nameservers: [{ name: ns1.example.com., addresses: ["127.0.0.1"] }]
`
const signed = ', dnssec: { enabled: true }'

const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess
beforeAll(async () => {
  site = await Site.make('signed-process')
  site.write('gslb.yaml', settings(''))
  await site.commit('a zone')
  await site.push()
})
afterAll(() => site.remove())

const serve = async (): Promise<void> => {
  daemon = await start('serve', '--settings', site.settingsFile)
}
const dig = async (...args: string[]): Promise<string> =>
  (await saidBy('dig', ['@127.0.0.1', '-p', `${daemon.dnsPort}`, '+tries=2', ...args])).text

/** What the parent is given. */
async function dsOf(): Promise<string> {
  const { exit, out } = await runCli('dnssec', 'ds', zone, '--settings', site.settingsFile)
  expect(exit).toBe(0)
  const [, ds = ''] = /^example\.com\. .*\bDS (\d+ \d+ 2 [0-9a-f]+)/im.exec(out) ?? []
  return ds
}

async function validated(ds: string, ...question: string[]): Promise<string> {
  const [tag, algorithm, type, digest] = ds.split(' ')
  const anchor = join(site.path, 'anchor.conf')
  const trusted = `${zone} static-ds ${tag} ${algorithm} ${type} "${digest}"`
  writeFileSync(anchor, `trust-anchors { ${trusted}; };\n`)
  const at = ['@127.0.0.1', '-p', `${daemon.dnsPort}`, '-a', anchor, `+root=${zone}`]
  return (await saidBy('delv', [...at, ...question])).text
}

const questions = [
  [`www.${zone}`, 'A', /fully validated[^]*192\.0\.2\.1/],
  [`www.${zone}`, 'AAAA', /negative response, fully validated/],
  [`none.${zone}`, 'A', /negative response, fully validated/],
  [zone, 'SOA', /fully validated/],
  [zone, 'DNSKEY', /fully validated/],
] as const

async function allAreValid(ds: string): Promise<void> {
  for (const [name, type, says] of questions) expect(await validated(ds, name, type)).toMatch(says)
}

test('a setting signs the zone; its DS stays the same after a stop and a crash', async () => {
  await serve()
  await waitUntil('the answer', async () => (await dig(`www.${zone}`, '+short')).includes('192.'))
  expect(await dig(`www.${zone}`, '+dnssec')).not.toContain('RRSIG')
  site.write('gslb.yaml', settings(signed))
  await site.commit('sign it')
  await site.push()
  await waitUntil('a signature', async () =>
    (await dig(`www.${zone}`, '+dnssec')).includes('RRSIG'),
  )
  expect(await dig(`www.${zone}`)).not.toContain('RRSIG')
  const ds = await dsOf()
  await allAreValid(ds)
  await daemon.stop()
  await serve()
  await waitUntil('the answer', async () => (await dig(`www.${zone}`, '+short')).includes('192.'))
  await allAreValid(ds)
  daemon.signal('SIGKILL')
  await daemon.ended
  await serve()
  await waitUntil('the answer', async () => (await dig(`www.${zone}`, '+short')).includes('192.'))
  await allAreValid(ds)
  expect(await dsOf()).toBe(ds)
})

test('a change is signed with the first answer that has it', async () => {
  const ds = await dsOf()
  site.write(poolPath, poolYaml('192.0.2.77'))
  await site.commit('another member')
  await site.push()
  await waitUntil('the answer', async () => (await dig(`www.${zone}`, '+short')).includes('.77'))
  expect(await validated(ds, `www.${zone}`, 'A')).toMatch(/fully validated[^]*192\.0\.2\.77/)
})

test('a zone whose parent has another DS is bogus to delv', async () => {
  const other = (await dsOf()).replace(/[0-9a-f]{4}$/i, '0000')
  expect(await validated(other, `www.${zone}`, 'A')).not.toContain('fully validated')
})

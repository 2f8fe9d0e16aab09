// A script as a health check, from a push to the answer: where the node allows it, and where not.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { Site, poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const sites: Site[] = []
afterAll(() => {
  for (const site of sites) site.remove()
})

async function makeSite(label: string, allowScriptChecks: boolean): Promise<Site> {
  const site = await Site.make(label, { health: { enabled: true, allowScriptChecks } })
  sites.push(site)
  await site.push()
  return site
}

/** Runs every second; 192.0.2.7 is healthy while `broken` is not there. */
function pushCheck(site: Site): Promise<void> {
  const script = `touch ${join(site.path, 'ran')}; test ! -e ${join(site.path, 'broken')}`
  const check = `{ type: script, intervalMs: 1000, timeoutMs: 1000, scriptContent: "${script}" }`
  site.write(poolPath, poolYaml('192.0.2.7', check))
  return site.commit('a script').then(() => site.push())
}

const exitCode1 = 'exit code 1'
const question = 'www.example.com A'

test('where scripts are allowed, a script takes its member out of the answer', async () => {
  const site = await makeSite('scripts-allowed', true)
  const daemon = await start('serve', '--settings', site.settingsFile)
  await pushCheck(site)
  await waitUntil('the new member', async () =>
    (await daemon.answers(question)).join().includes('192.0.2.7'),
  )
  site.write('../broken', '')
  await waitUntil('an answer without it', async () =>
    (await daemon.answers(question)).includes('NOERROR'),
  )
  // On a busy machine it may have had no time before.
  await waitUntil('the reason', () =>
    daemon.log().some(({ msg, reason }) => msg === 'member is unhealthy' && reason === exitCode1),
  )
  await daemon.stop()
})

test('where they are not, the commit passes with a warning, and no script runs', async () => {
  const site = await makeSite('scripts-forbidden', true)
  site.write('../broken', '')
  const allowing = await start('serve', '--settings', site.settingsFile)
  await pushCheck(site)
  await waitUntil('the script', () => existsSync(join(site.path, 'ran')))
  await allowing.stop()
  await site.run('rm', join(site.path, 'ran'))

  // The bundle of the data directory has the check; its commit is not accepted anew.
  site.writeSettings({ health: { enabled: true, allowScriptChecks: false } })
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the word on it', () => daemon.logged('this node runs no scripts'))
  // The node before may have judged it by its script; that verdict goes with the first result.
  await waitUntil('the member, healthy for want of a check', async () =>
    (await daemon.answers(question)).join().includes('192.0.2.7'),
  )
  site.write('README.md', 'A change that means nothing to answers.\n')
  const head = await site.commit('again')
  await site.push()
  const passed = await waitUntil('the commit to serve', async () => {
    const status = await daemon.gitops()
    return status.active === head && status.sync !== 'pending' ? status : undefined
  })
  const warnings = passed.diagnostics.filter(({ severity }) => severity === 'warning')
  expect([passed.sync, warnings.map(({ code }) => code)]).toEqual([
    'synced',
    ['health-check-script-ignored'],
  ])
  expect(existsSync(join(site.path, 'ran'))).toBe(false)
  await daemon.stop()
})

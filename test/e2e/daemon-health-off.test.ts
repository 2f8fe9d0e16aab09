// Pools that declare health checks, on a node that was not told to check anything.
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { Site, poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const sites: Site[] = []
afterAll(() => {
  for (const site of sites) site.remove()
})

const check = '{ type: tcp, port: 9 }'
const rows = [
  { title: 'are told once', healthCheck: check, enabled: false, warnings: 1 },
  { title: 'are not told where there are none', healthCheck: '', enabled: false, warnings: 0 },
  { title: 'are not told where they are made', healthCheck: check, enabled: true, warnings: 0 },
]

for (const { title, healthCheck, enabled, warnings } of rows) {
  test(`checks that nobody makes ${title}`, async () => {
    const site = await Site.make('health-off', { health: { enabled } })
    sites.push(site)
    for (const address of ['192.0.2.8', '192.0.2.9']) {
      site.write(poolPath, poolYaml(address, healthCheck))
      await site.commit(address)
      await site.push()
    }
    const daemon = await start('serve', '--settings', site.settingsFile)
    const activations = () => daemon.log().filter(({ msg }) => msg === 'bundle activated').length
    await waitUntil('the bundle', () => activations() === 1)
    site.write(poolPath, poolYaml('192.0.2.3', healthCheck))
    await site.commit('third')
    await site.push()
    await waitUntil('the next bundle', () => activations() === 2)
    const told = daemon.log().filter(({ msg }) => msg.startsWith('health checks are declared'))
    expect(told).toHaveLength(warnings)
    for (const { level } of told) expect(level).toBe('warn')
    await daemon.stop()
  })
}

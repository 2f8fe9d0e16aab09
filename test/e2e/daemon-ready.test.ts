// Readiness of a node that has nothing to answer from yet.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
let site: Site

beforeAll(async () => {
  site = await Site.make('ready')
})
afterAll(() => site.remove())

test('while every query is refused a node is not ready, and says why', async () => {
  const daemon = await start('serve', '--settings', site.settingsFile)
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/ready`)
    return { code: answer.status, text: await answer.text() }
  }
  expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
  expect(await daemon.health()).toBe('starting')
  const first = await ready()
  expect(first.code).toBe(503)
  expect(first.text).toContain('no-bundle')
  await site.push()
  await waitUntil('the node to be ready', async () => (await ready()).code === 200)
  expect(await daemon.answers('www.example.com. A')).toEqual(['www.example.com. 5 IN A 192.0.2.1'])
})

// Names with signs of word processors and other languages: made, edited and read over the API.
import { afterAll, expect, test } from 'vitest'
import { keyOf, startConfigWorld } from '#test/support/config-world.ts'

const world = await startConfigWorld()
afterAll(() => world.close())

const names = ['«Blue»', '“Blue”', '‘Blue’', '„Blue“', '– Blue', 'Blue\u00a0sky', 'a:\u00a0b']

test.each(names)('a pool %s is made, edited and read', async (name) => {
  const acme = keyOf('acme')
  const made = await world.call(acme, 'POST', '/pools', { name })
  expect([made.status, made.body.name]).toEqual([201, name])
  const path = `/pools/${made.body.id}`
  const member = { ipAddress: '192.0.2.1', port: 80 }
  expect((await world.call(acme, 'POST', `${path}/members`, member)).status).toBe(201)
  const renamed = await world.call(acme, 'PUT', path, { name: `${name}2` })
  expect([renamed.status, renamed.body.name]).toEqual([200, `${name}2`])
  const read = await world.call(acme, 'GET', path)
  expect([read.status, read.body.name]).toEqual([200, `${name}2`])
})

// Tests the API while the database is away: it answers 503 with the time of the next try, never
// 500.
import fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { answerError } from '#http/errors.ts'
import { operationId } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { err } from '#lib/result.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { keeperScene } from '#test/support/licences.ts'
import { routeCases } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

const unknown = '01976c1e-7e5c-7000-8000-00000000ffff'
const places: Readonly<Record<string, string>> = {
  digest: 'b'.repeat(64),
  commit: '0'.repeat(40),
}
const away = async () => err({ code: 'store-away', message: 'The database is away.' })
const retrySeconds = String(apiLimits.retryAfter.storeSeconds)

const late = `
  deleteAlertsById deleteAlertsSilencesById deleteDnsTsigKeysById deleteDnsTxtRecordsById
  deleteDnsWrittenRecordsById
  deleteRolesById deleteTenantsByIdKey deleteUsersById getAlerts getAlertsById getAlertsEvents
  getAlertsSilences getDnsTsigKeys getDnsTxtRecords getDnsWrittenRecords getDomains getRoles
  getRolesById getTenantsByIdUsage getUsage getUsers getUsersById postAlerts postAlertsByIdTest
  postAlertsSilences postAuthLogin postAuthSetup
  postDnsTsigKeys postDnsTxtRecords postDomainsByIdVerify postLicense postRoles postTenants
  postUsers putAlertsById putRolesById putUsersById
`

let whole: WholeWorld
let domain = ''
const restores: (() => void)[] = []
beforeAll(async () => {
  const scene = keeperScene()
  whole = await startWholeWorld({ licenceAdmin: scene.keeper })
  const { users, roles, tenantKeys, dynamicDns, alerts, domains, usage } = whole.world.ports
  const root = await whole.bearerOf('root')
  const made = await whole.world.call(root, 'POST', '/domains', { domain: 'away.example.com' })
  domain = String(made.body.id)
  for (const store of [users, roles, tenantKeys, dynamicDns, alerts, domains, usage]) {
    const before = { ...store }
    restores.push(() => void Object.assign(store, before))
    for (const name of Object.keys(store)) Object.assign(store, { [name]: away })
  }
  scene.memory.isAway = true
})
afterAll(async () => {
  // Other files of this process share the database.
  for (const restore of restores) restore()
  await whole.stop()
})

test('every route is answered, and those that need the database by 503', async () => {
  const root = await whole.bearerOf('root')
  const found: string[] = []
  for (const row of routes) {
    const name = operationId(row)
    const id = row.path.startsWith('/api/v1/domains/') ? domain : unknown
    const path = row.path.replaceAll(/\{(\w+)\}/g, (_all, key: string) =>
      key === 'id' ? id : (places[key] ?? 'another'),
    )
    const below = path.startsWith('/api/v1') ? path.slice('/api/v1'.length) : `/../..${path}`
    const answer = await whole.world.call(root, row.method, below, routeCases[name]?.body?.())
    expect(answer.status, `${name}: ${answer.text}`).not.toBe(500)
    if (answer.status !== 503) continue
    expect(answer.headers['retry-after'], name).toBe(retrySeconds)
    expect(answer.body.error, name).toMatch(/^this cannot be read or kept at the moment: .*away/)
    found.push(name)
  }
  expect(found.toSorted()).toEqual(late.trim().split(/\s+/))
})

test('an answer that takes too long is 503, and says when to try again', async () => {
  const app = fastify({ handlerTimeout: 20 })
  app.setErrorHandler(answerError(silentLog))
  app.post('/late', () => new Promise(() => undefined))
  const answer = await app.inject({ method: 'POST', url: '/late' })
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, retrySeconds])
  expect(answer.json()).toEqual({
    error: 'the answer took too long; a change may still be made: look before you try again',
  })
  await app.close()
})

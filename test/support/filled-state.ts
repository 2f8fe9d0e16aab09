// Fills every table and reads everything back, to compare databases.
import type { Result } from '#lib/result.ts'
import { checkBackup, restoreBackup } from '#state/backup/restore-backup.ts'
import { writeBackup } from '#state/backup/write-backup.ts'
import type { PersistentState } from '#state/persistent.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import { newAlert, newChannel, newFinding, newSilence } from './alerts.ts'
import { auditEntry, hostileTexts, newUser, valueOf } from './store-values.ts'

/** What a person may write, and is no secret. */
const likeSecrets = '"totp_ciphertext":"v1.x", "keys":"[{"secretCiphertext":"v1.y"}]"'
const totp = { secretCiphertext: 'sealed', active: true, lastUsedStep: 7 }

export async function fill(state: PersistentState): Promise<void> {
  const { users, roles, tenantKeys, licences, settings, usage, audit, dynamicDns } = state
  for (const [i, text] of [...hostileTexts, likeSecrets].entries()) {
    await valueOf(users.create(newUser(`u${i}`, { displayName: text, passwordHash: null })))
    await valueOf(settings.set(text, { text, list: [i, null, 1.5] }, i))
  }
  await valueOf(users.update('every-tenant', 'u0', { totp, updatedAtMs: 2_000 }))
  await valueOf(users.claimForOidc('u0', 'https://idp.test ann'))
  await valueOf(roles.ensureSystem([{ name: 'viewer', permissions: ['pool:read'] }], 1_000))
  const role = { id: 'r1', name: 'own', tenantId: 'acme', permissions: [], createdAtMs: 1 }
  await valueOf(roles.create(role))
  await valueOf(tenantKeys.put('acme', 'a'.repeat(64), 1_000))
  await valueOf(licences.load('i'.repeat(32)))
  await valueOf(licences.saveLicence({ token: 'payload.signature', source: 'api', savedAtMs: 5 }))
  await valueOf(licences.beginTrial({ kind: 'offline', startedAtMs: 1, expiresAtMs: 2 }))
  const hours = Array.from({ length: 1_200 }, (_, i) => `${100_000 + i}`)
  const records = hours.map((period, i) => ({
    ...{ tenantId: 'acme', period, dnsQueries: 2 ** 45 + i, apiCalls: i },
  }))
  await valueOf(usage.add({ id: 'b1', nowMs: 1, records }))
  await valueOf(
    audit.append([auditEntry('a'), auditEntry('b', { requestId: 'r', durationMs: 0.1 })]),
  )
  const key = { id: 'k1', tenantId: 'acme', name: 'k.example.', algorithm: 'hmac-sha256.' }
  const sealed = { scope: null, secretCiphertext: 'v1.sealed', createdAtMs: 1 }
  await valueOf(dynamicDns.createKey({ ...key, ...sealed }))
  const add = { verb: 'add', name: 'a.example.', type: 16, rdata: 'AWE=', ttlSeconds: 60 } as const
  const address = { ...add, name: 'b.example.', type: 1, rdata: 'wAACAQ==' }
  await valueOf(dynamicDns.applyChanges('k1', [add, address], 2))
  await valueOf(state.responseHits.add({ id: 'b1', nowMs: 1, hits: new Map([['r1', 2 ** 45]]) }))
  const { alerts } = state
  await valueOf(alerts.createChannel(newChannel('c1')))
  await valueOf(alerts.createSilence(newSilence('s1')))
  await valueOf(alerts.report('n1', 'abc', [newFinding('p1')]))
  const lease = await valueOf(alerts.takeLease(null, 'n1/1'))
  const opened = [{ alert: newAlert('a1'), channels: ['c1'] }]
  const changes = { opened, updated: [], resolved: [], nowMs: 1, readyAtMs: 1 }
  await valueOf(alerts.record(lease!.term, changes))
  const found = { nsOk: true, dsOk: false, dsExpected: false, error: '', checks: [] }
  const checked = { domain: 'example.net.', ...found, verifiedAtMs: 2 ** 45 }
  await valueOf(state.domains.put('d1', checked))
  const sealedKey = {
    role: 'csk',
    publicKey: 'AQED',
    secretCiphertext: 'v1.s',
    times: { createdMs: 1 },
  }
  const zoneKey = { tag: 1, algorithm: 13, flags: 257, ...sealedKey }
  await valueOf(state.zoneKeys.swap('example.net.', 0, [zoneKey], 1))
  await valueOf(state.certificates.swap(0, 'v1.sealed', 1))
  const account = { username: 'u1', passwordHash: 'ab', subdomain: 's1', allowFrom: ['::/0'] }
  await valueOf(state.acmeDns.create({ ...account, createdAtMs: 2 ** 45 }, 10))
}

export async function everything(state: PersistentState): Promise<unknown> {
  const { users, roles, tenantKeys, licences, settings, usage, audit } = state
  return [
    await valueOf(users.list('every-tenant')),
    await valueOf(roles.list('every-tenant')),
    await valueOf(tenantKeys.findTenant('a'.repeat(64))),
    await valueOf(licences.load('another')),
    await Promise.all(hostileTexts.map((text) => valueOf(settings.get(text)))),
    await valueOf(usage.range('acme', '0', '9')),
    await valueOf(audit.query({ scope: 'every-tenant', fromMs: 0, toMs: 9_999, limit: 100 })),
    await valueOf(state.dynamicDns.load()),
    [...(await valueOf(state.responseHits.totals()))].toSorted(),
    await valueOf(state.alerts.listChannels('every-tenant')),
    await valueOf(state.alerts.listSilences('every-tenant', 0)),
    (await valueOf(state.alerts.lease()))?.term,
    await valueOf(state.alerts.due(1, [])),
    [...(await valueOf(state.domains.results(['d1'])))],
    (await valueOf(state.zoneKeys.load())).zones,
    (await valueOf(state.certificates.load())).stored,
    await valueOf(state.acmeDns.find('u1')),
  ]
}

/** As `gslbd restore` does. */
export async function restoreFrom(
  path: string,
  to: Sql,
  onRows?: (count: number) => void,
): Promise<Result<number, string>> {
  const checked = await checkBackup(path)
  return checked.ok ? restoreBackup(to, checked.value, onRows) : checked
}

/** @throws with the sentence of the step that failed */
export async function copyThrough(
  path: string,
  from: PersistentState,
  to: PersistentState,
): Promise<number> {
  const written = await writeBackup(from.sql, path, 1_000)
  if (!written.ok) throw new Error(written.error)
  const restored = await restoreFrom(path, to.sql)
  if (!restored.ok) throw new Error(restored.error)
  return restored.value
}

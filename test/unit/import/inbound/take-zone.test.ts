// How a commit of a zone from elsewhere that was not made is understood: what is written again, and
// what waits for another serial or for a person.
import { expect, test } from 'vitest'
import type { Operation, WriteFailure, WriteFailureCode } from '#config/operation.ts'
import { err } from '#lib/result.ts'
import { writeZone } from '#import/inbound/take-zone.ts'
import type { TakeFault } from '#zones/inbound/zone-follower.ts'

const finding = { code: 'record-below-cut', message: 'it is below a delegation', help: '' }
const diagnostics = [{ ...finding, field: 'spec.records.0', file: '', line: 0 }]
const rows: readonly [WriteFailureCode, WriteFailure['diagnostics'], TakeFault['is']][] = [
  ['invalid', diagnostics, 'refused'],
  ['forbidden', [], 'refused'],
  // A name that is somebody else's, as the compiler finds it.
  ['conflict', diagnostics, 'refused'],
  // Another control node has made the file of this name, has written its head, or has removed one.
  ['conflict', [], 'later'],
  ['precondition-failed', [], 'later'],
  ['not-found', [], 'later'],
  ['unreachable', [], 'later'],
  ['guarded', [], 'held'],
]
test.each(rows)('%s with the findings %j: %s', async (code, findings, is) => {
  const message = 'It was not written.'
  const failure = { code, message, operation: 0, diagnostics: findings }
  const operation: Operation = {
    ...({ verb: 'update', kind: 'Records', target: { uid: 'u' } } as const),
    patch: { records: [] },
  }
  const said = { subject: 'example.com. by zone transfer', nowMs: 1_800_000_000_000 }
  const done = await writeZone(async () => err(failure), [operation], said)
  expect(done).toMatchObject({ ok: false, error: { is } })
})

test('what is in the way here is said with its file, its line, and what to do', async () => {
  const help = 'remove it, or the NS records there'
  const place = { field: 'spec.domain', file: 'tenants/default/services/www.yaml', line: 7 }
  const about = { ...finding, message: 'www.eu.example.com. is below eu.example.com.', help }
  const told = [
    { ...about, ...place, other: 'Service "www"' },
    { ...finding, message: 'it has no address', field: 'spec.records.0', file: 'a.yaml', line: 1 },
  ]
  const failure = { code: 'invalid', message: '', operation: -1, diagnostics: told } as const
  const records = [{ name: 'mail', type: 'MX', values: [] }]
  const operation = { verb: 'update', kind: 'Records', target: { uid: 'u' }, patch: { records } }
  const said = { subject: 'example.com. by zone transfer', nowMs: 1_800_000_000_000 }
  const done = await writeZone(async () => err(failure), [operation as Operation], said)
  expect(done.ok ? '' : done.error.reason).toBe(
    'tenants/default/services/www.yaml:7: www.eu.example.com. is below eu.example.com. ' +
      `(Service "www"): ${help}; mail MX: it has no address`,
  )
})
